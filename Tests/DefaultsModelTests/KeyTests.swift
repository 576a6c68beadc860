import DefaultsModel
import TestSupport
import Testing

@Suite struct KeyTests {
    @Test(
        "A key is 1 to 1024 bytes of any text without NUL",
        arguments: ["a", " ", "Größe", "\n", "🙂", "$class", String(repeating: "k", count: 1024)])
    func takes(name: String) throws {
        #expect(try Array(Key(name).name.utf8) == Array(name.utf8))
    }

    @Test(
        "An invalid key is refused with the byte and the reason",
        arguments: [
            ("", 0, "empty"),
            (String(repeating: "k", count: 1025), 1024, "1025 bytes, and at most 1024 are allowed"),
            (String(repeating: "é", count: 513), 1024, "1026 bytes"),
            ("a\0", 1, "NUL at byte 1"),
            ("é\0é", 2, "NUL at byte 2"),
        ])
    func refuses(name: String, offset: Int, reason: String) throws {
        let error = #expect(throws: ModelError.self) { try Key(name) }
        #expect(error?.code == .invalidKey)
        #expect(error?.offset == offset)
        #expect(error?.description.contains(reason) == true)
    }

    @Test("Two spellings of one letter are two keys")
    func byteIdentity() throws {
        let composed = try Key("\u{E9}")
        let decomposed = try Key("e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test("Keys are ordered by their bytes")
    func order() throws {
        let keys = try ["A", "a", "aa", "b", "é", "🙂"].map { try Key($0) }
        var random = SeededGenerator()
        #expect(keys.shuffled(using: &random).sorted() == keys)
    }

    @Test("A stored key may be empty, unlike a caller's: it is the record of the files")
    func stored() throws {
        #expect(try Key(stored: "") == .fileRecord)
        #expect(try Key(stored: "a") == Key("a"))
        #expect(try Key(stored: "a") != .fileRecord)
        #expect(Key.fileRecord.length == 0)
        #expect(try Key.fileRecord < Key("\u{1}"))
        for name in ["a\0", "\0", String(repeating: "k", count: 1025)] {
            let error = #expect(throws: ModelError.self) { try Key(stored: name) }
            #expect(error?.code == .invalidKey)
        }
    }
}
