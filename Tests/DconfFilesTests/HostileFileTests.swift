import DconfFiles
import DefaultsProtocol
import TestSupport
import Testing

/// Files that are wrong end in an error, or in the values that can be read.
@Suite struct HostileFileTests {
    /// A file with folders, values of several types, and locks.
    private static func file() throws -> [UInt8] {
        func text(_ text: String) -> ExactValue { ExactValue(.string, .string(text)) }
        let entries = [
            DconfDatabase.Entry("/top", ExactValue(.uint32, .integer(7))),
            .init("/org/gnome/desktop/interface/font-name", text("Cantarell 11")),
            .init(
                "/org/gnome/desktop/interface/names",
                ExactValue(.array(.string), .elements([text("a"), text("")]))),
            .init("/org/x/nothing", ExactValue(.maybe(.string), .elements([]))),
            .init("/org/x/some", ExactValue(.variant, .variant(ExactValue(.double, .double(1.5))))),
        ]
        return try DconfDatabase(entries: entries, locks: ["/top", "/org/x/some"]).bytes()
    }

    /// Reads all that a file has, in both ways.
    private func use(_ bytes: [UInt8]) {
        if let database = try? DconfDatabase(bytes) {
            #expect(database.entries.count + database.faults.count <= bytes.count / 24)
        }
        guard let table = try? GVDBTable(bytes) else { return }
        for item in table.indices {
            guard let name = try? table.name(of: item) else { continue }
            _ = table.item(named: name)
            _ = try? table.value(of: item)
            _ = try? table.table(of: item)
        }
        for name in ["/top", "/", ".locks", ""] { _ = table.item(named: name) }
    }

    @Test func `Each byte can be wrong`() throws {
        let file = try Self.file()
        #expect(try DconfDatabase(file).entries.count == 5)
        var changed = file
        for offset in Thoroughness.places(in: file.count) {
            for value in [0, 1, 0x7F, 0x80, 0xFF, file[offset] ^ 1, file[offset] &+ 24] as [UInt8] {
                changed[offset] = value
                use(changed)
            }
            changed[offset] = file[offset]
        }
    }

    @Test func `A file can end everywhere`() throws {
        let file = try Self.file()
        for count in Thoroughness.places(in: file.count) {
            use(Array(file.prefix(count)))
            use(Array(file.suffix(count)))
        }
    }

    @Test func `Several bytes can be wrong`() throws {
        let file = try Self.file()
        var random = SeededGenerator()
        for _ in 0..<Thoroughness.tries(20_000) {
            var changed = file
            for _ in 0..<Int.random(in: 1..<6, using: &random) {
                let word = Int.random(in: 4..<(file.count / 4), using: &random) * 4
                let number = UInt32.random(in: 0..<UInt32(file.count + 8), using: &random)
                for position in 0..<4 {
                    changed[word + position] = UInt8(truncatingIfNeeded: number >> (8 * position))
                }
            }
            use(changed)
        }
    }

    @Test(
        arguments: [
            ([], "The file is not a GVDB file."),
            (Array("GVariant".utf8), "The file is not a GVDB file."),
            (Array("raVGtnai".utf8), "The file is from a machine with the other byte order."),
            (head([1, 0, 24, 24]), "The file has version 1 of GVDB; only 0 is known."),
            (
                head([0, 0, 24, 64]),
                "The place of the outermost table in the file, byte 24, is not possible."
            ),
            (
                head([0, 0, 32, 24]),
                "The place of the outermost table in the file, byte 32, is not possible."
            ),
            (head([0, 0, 24, 24]), "The table at byte 24 has a wrong size."),
            (head([0, 0, 24, 32, 0, 1]), "The table at byte 24 has a wrong size."),
            (head([0, 0, 24, 32, 0x7FF_FFFF, .max]), "The table at byte 24 has a wrong size."),
            (head([0, 0, 24, 36, 0, 0, 0]), "The table at byte 24 has a wrong size."),
        ] as [([UInt8], String)])
    func `An error says what is wrong`(bytes: [UInt8], message: String) {
        let error = #expect(throws: GVDBError.self) { try DconfDatabase(bytes) }
        #expect(error?.description == message)
    }

    /// A file with one table at byte 24, whose words are given after the header's.
    private static func head(_ words: [UInt32]) -> [UInt8] {
        Array("GVariant".utf8)
            + words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    /// A file with items: a parent, the length of a name, a kind, and a content.
    ///
    /// All names begin at the same byte, after the table.
    private static func file(
        _ items: [(parent: UInt32, length: UInt32, kind: String, content: Range<UInt32>)]
    ) -> [UInt8] {
        let end = 32 + 24 * UInt32(items.count)
        return head(
            [0, 0, 24, end, 0, 0]
                + items.flatMap { item in
                    let kind = UInt32(item.kind.utf8.first ?? 0)
                    return [
                        0, item.parent, end, item.length | kind << 16, item.content.lowerBound,
                        item.content.upperBound,
                    ]
                }) + Array(repeating: 0x61, count: 4096)
    }

    @Test func `A name whose parents are a circle is an error`() throws {
        for parents in [[0, 0], [1, 0]] as [[UInt32]] {
            let table = try GVDBTable(Self.file(parents.map { ($0, 1, "v", 0..<0) }))
            #expect(throws: GVDBError.name(item: 0)) { try table.name(of: 0) }
        }
        let empty = try GVDBTable(Self.file([(0, 0, "v", 0..<0)]))
        #expect(throws: GVDBError.name(item: 0)) { try empty.name(of: 0) }
        let long = try GVDBTable(Self.file([(.max, 4097, "v", 0..<0)]))
        #expect(throws: GVDBError.self) { try long.name(of: 0) }
        let far = try GVDBTable(Self.file([(9, 1, "v", 0..<0)]))
        #expect(throws: GVDBError.self) { try far.name(of: 0) }
    }

    @Test func `A table inside itself is an error at some depth`() throws {
        var table = try GVDBTable(Self.file([(.max, 1, "H", 24..<56)]))
        for _ in 0..<3 { table = try table.table(of: 0) }
        #expect(throws: GVDBError.depth) { try table.table(of: 0) }
    }

    @Test func `Values that overlap are an error`() {
        let items = (0..<1000).map { _ in (UInt32.max, UInt32(1), "v", UInt32(0)..<UInt32(20_000)) }
        #expect(throws: GVDBError.tooLarge) { try DconfDatabase(Self.file(items)) }
    }

    @Test func `Long names that overlap are an error`() {
        let items = (0..<10_000).map { _ in (UInt32.max, UInt32(4096), "v", UInt32(0)..<UInt32(0)) }
        let file = Self.file(items)
        #expect(throws: GVDBError.tooLarge) { try DconfDatabase(file) }
    }
}
