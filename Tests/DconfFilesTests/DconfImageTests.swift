import DconfFiles
import DefaultsProtocol
import TestSupport
import TestTiers
import Testing

/// Files that are written again with a few changes.
@Suite(.startsPrograms, .enabled(if: DconfTool.isInstalled, Comment(rawValue: DconfTool.missing)))
struct DconfImageTests {
    private static func text(_ value: String) -> ExactValue { ExactValue(.string, .string(value)) }

    @Test func `An image of dconf's file has its values, and dconf reads what it writes`() throws {
        let file = try DconfTool().compile(DconfDatabaseTests.text)
        var image = try DconfImage(file)
        #expect(!image.isView && image.count == 10)
        let database = try DconfDatabase(file)
        for entry in database.entries { #expect(image.value(at: entry.path) == entry.value) }
        #expect(
            try DconfTool().user(image.bytes(asView: false), "dump", "/") == DconfDatabaseTests.text
        )
        #expect(
            try DconfTool().user(image.bytes(asView: true), "dump", "/") == DconfDatabaseTests.text)
        try #expect(!image.set("/top", to: ExactValue(.uint32, .integer(7))))
        try #expect(image.set("/top", to: nil))
        try #expect(!image.set("/none", to: nil))
        try #expect(image.set("/org/new/key", to: Self.text("x")))
        let written = try image.bytes(asView: true)
        #expect(try DconfTool().user(written, "list", "/") == "org/\n")
        #expect(try DconfTool().user(written, "read", "/org/new/key") == "'x'\n")
        let again = try DconfImage(written)
        #expect(again.isView && again.count == 10)
        #expect(Set(again.paths(unlike: try DconfImage(file))) == ["/top", "/org/new/key"])
        #expect(again.paths(unlike: image).isEmpty)
        #expect(try again.bytes(asView: true) == written)
        // The database of the tool does not see the mark.
        #expect(try DconfDatabase(written).faults.isEmpty)
    }

    @Test func `A wrong path is in no image`() throws {
        var image = DconfImage()
        for path in ["", "a", "/a/", "/a//b", "/" + String(repeating: "k", count: 5000)] {
            #expect(throws: GVDBError.self) { try image.set(path, to: Self.text("x")) }
        }
        #expect(try DconfImage(image.bytes(asView: true)).isView)
    }

    @Test func `A value is replaced without the others`() throws {
        var image = try DconfImage(DconfTool().compile(DconfDatabaseTests.text))
        let file = try image.bytes(asView: true)
        var patch = try DconfPatch(file)
        #expect(patch.set("/top", to: ExactValue(.uint32, .integer(7))) == .same)
        #expect(patch.bytes == file)
        #expect(patch.set("/top", to: Self.text("a longer value")) == .replaced)
        #expect(patch.set("/org/gnome/desktop/interface/font-name", to: Self.text("")) == .replaced)
        #expect(patch.set("/org", to: Self.text("x")) == .impossible)
        #expect(patch.set("/org/", to: Self.text("x")) == .impossible)
        #expect(patch.set("/none", to: Self.text("x")) == .impossible)
        try image.set("/top", to: Self.text("a longer value"))
        try image.set("/org/gnome/desktop/interface/font-name", to: Self.text(""))
        let patched = try DconfImage(patch.bytes)
        #expect(patched.isView && patched.paths(unlike: image).isEmpty && patched.count == 10)
        let dump = try DconfTool().user(patch.bytes, "dump", "/")
        #expect(dump == (try DconfTool().user(image.bytes(asView: true), "dump", "/")))
        // What somebody else has written is not patched.
        #expect(throws: GVDBError.self) { try DconfPatch(image.bytes(asView: false)) }
        #expect(throws: GVDBError.self) { try DconfPatch([1, 2, 3]) }
    }

    /// A file is not synchronized, so after a power cut its end may be missing, or be zeros.
    @Test func `A file that was written in part is refused`() throws {
        var image = DconfImage()
        for number in 0..<20 { try image.set("/a/b\(number)", to: Self.text("\(number)")) }
        for isView in [false, true] {
            let file = try image.bytes(asView: isView)
            #expect(try DconfImage(file).count == 20)
            // The last item may be the mark of a view, whose value is zeros and a letter.
            for whole in stride(from: 0, to: file.count - 64, by: 8) {
                let zeros = file[..<whole] + Array(repeating: 0, count: file.count - whole)
                if let torn = try? DconfImage(Array(zeros)) {
                    // Then only values are missing, which is not taken for their removal.
                    #expect(torn.count == 20 && torn.isView == isView, "\(whole)")
                }
                #expect(throws: GVDBError.self) { try DconfImage(Array(file[..<whole])) }
            }
        }
    }

    @Test func `What is no value is kept, and is told from nothing`() throws {
        var written = DconfImage()
        try written.set("/a", to: Self.text("qqqq"))
        try written.set("/b", to: Self.text("x"))
        var file = try written.bytes(asView: false)
        let value = Array("qqqq\0\0s".utf8)
        let place = try #require(file.indices.first { file[$0...].starts(with: value) })
        // The type is that of a file descriptor now.
        file[place + value.count - 1] = UInt8(ascii: "h")
        let image = try DconfImage(file)
        #expect(image.value(at: "/a") == nil && image.hasUnreadableValue(at: "/a"))
        for path in ["/b", "/c"] { #expect(!image.hasUnreadableValue(at: path)) }
        let again = try DconfImage(image.bytes(asView: true))
        #expect(again.paths(unlike: image).isEmpty)
    }

    @Test(arguments: 0..<60)
    func `Broken files are read as something or refused`(seed: Int) throws {
        var image = DconfImage()
        for number in 0..<20 {
            try image.set("/a/b\(number % 5)/\(number)", to: Self.text("\(number)"))
        }
        var file = try image.bytes(asView: true)
        var random = SeededGenerator(case: seed)
        for _ in 0...(seed % 5) {
            guard let place = file.indices.randomElement(using: &random) else { return }
            file[place] = .random(in: 0...255, using: &random)
        }
        if seed.isMultiple(of: 3) {
            file.removeLast(.random(in: 0..<file.count, using: &random))
        }
        guard let broken = try? DconfImage(file) else { return }
        for path in broken.paths { _ = broken.value(at: path) }
        _ = try? broken.bytes(asView: false)
        guard var patch = try? DconfPatch(file) else { return }
        _ = patch.set("/a/b1/1", to: Self.text("x"))
        _ = try? DconfImage(patch.bytes)
    }
}
