import DBus
import DconfFiles
import DefaultsDconf
import DefaultsProtocol
import TestSupport
import Testing

/// What programs send in a call of `Change`.
struct ChangeTests {
    private static let entry = ExactType.entry(key: .string, value: .maybe(.variant))

    private static func bytes(_ entries: [(String, ExactValue?)]) throws -> [UInt8] {
        let elements = entries.map { path, value in
            let content = value.map { ExactValue(.variant, .variant($0)) }
            return ExactValue(
                entry,
                .elements([
                    ExactValue(.string, .string(path)),
                    ExactValue(.maybe(.variant), .elements(content.map { [$0] } ?? [])),
                ]))
        }
        return try ExactValue(.array(entry), .elements(elements)).gvariant()
    }

    @Test func `values, resets and resets of directories are told apart`() throws {
        let one = ExactValue(.int32, .integer(1))
        let change = try DconfChange(
            Self.bytes([("/a/b", one), ("/a/c", nil), ("/d/", nil), ("/", nil)]))
        let assignments = change.assignments.sorted { $0.path.path < $1.path.path }
        #expect(assignments.map(\.path.path) == ["/a/b", "/a/c"])
        #expect(assignments.map(\.value) == [one, nil])
        #expect(try change.directories.contain(#require(SettingsPath("/any"))))
        #expect(try DconfChange([]).assignments.isEmpty && DconfChange([]).directories.isEmpty)
    }

    @Test func `a setting is below a directory whose path begins its own`() throws {
        let directories = try DconfChange(Self.bytes([("/a/b/", nil), ("/c/", nil)])).directories
        let isBelow = [
            "/a/b/x": true, "/a/b/c/x": true, "/c/d": true, "/a/b": false, "/a/bc/x": false,
            "/x": false, "/d/c/x": false,
        ]
        for (path, expected) in isBelow {
            #expect(try directories.contain(#require(SettingsPath(path))) == expected, "\(path)")
        }
    }

    /// The largest change that the bus carries to a daemon has so many; all are looked up at once.
    @Test func `many directories take no longer than a few`() throws {
        let entries = (0..<20_000).map { ("/d\($0)/", nil as ExactValue?) }
        let directories = try DconfChange(Self.bytes(entries)).directories
        var count = 0
        for number in 0..<20_000 {
            if directories.contain(try #require(SettingsPath("/d\(number)/k"))) { count += 1 }
        }
        #expect(count == 20_000)
    }

    @Test(arguments: [
        "a", "", "//", "/a//b", "/a//", "a/", "/" + String(repeating: "k", count: 1200),
    ])
    func `a wrong path is refused`(path: String) throws {
        let bytes = try Self.bytes([(path, nil)])
        #expect(throws: DBusError.self) { try DconfChange(bytes) }
    }

    @Test func `a directory has no value`() throws {
        let bytes = try Self.bytes([("/a/", ExactValue(.boolean, .boolean(true)))])
        #expect(throws: DBusError.self) { try DconfChange(bytes) }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `any bytes are a change or an error`(seed: UInt64) throws {
        var random = RandomValues(SeededGenerator(case: seed))
        let type = random.type()
        var bytes = try Self.bytes([
            ("/a/b", random.value(of: type)), ("/a/c", random.value(of: random.type())),
        ])
        var generator = SeededGenerator(case: "\(seed), changes")
        for _ in 0..<20 {
            guard let place = bytes.indices.randomElement(using: &generator) else { return }
            bytes[place] = .random(in: 0...255, using: &generator)
            _ = try? DconfChange(bytes)
            bytes.remove(at: place)
            _ = try? DconfChange(bytes)
        }
    }

    @Test func `a deep value is refused`() throws {
        var value = ExactValue(.boolean, .boolean(true))
        for _ in 0..<60 { value = ExactValue(.variant, .variant(value)) }
        let entries = try Self.bytes([("/a", value)])
        #expect(!entries.isEmpty)
        // One more level around it would be too many.
        #expect(throws: (any Error).self) {
            var deep = value
            for _ in 0..<20 { deep = ExactValue(.variant, .variant(deep)) }
            _ = try Self.bytes([("/a", deep)])
        }
    }
}
