import KeyedArchive
import PropertyList
import Testing

@Suite("The members of a JSON object")
struct JSONObjectReaderTests {
    /// The keys with their values, or with the strings in them.
    private func members(of text: String) throws -> [String] {
        var reader = try JSONObjectReader(Array(text.utf8))
        var members: [String] = []
        while let key = try reader.nextKey() {
            if key == "strings" {
                members.append("\(try reader.strings().map { "\($0.offset):\($0.text)" })")
            } else {
                let value = String(decoding: try reader.value().json(), as: UTF8.self)
                members.append("\(reader.keyOffset):\(key)=\(value)")
            }
        }
        #expect(reader.offset == text.utf8.count)
        return members
    }

    @Test("Each value is a separate archive, and all have their place")
    func reading() throws {
        #expect(try members(of: "{}") == [])
        #expect(
            try members(
                of: #" { "a" : [1, {"b":2}], "\u00e9":"}", "strings": [ "x" ,"y"]}"# + "\n ")
                == ["3:a=[1,{\"b\":2}]", "23:é=\"}\"", #"["50:x", "55:y"]"#])
        #expect(try members(of: #"{"strings":[]}"#) == ["[]"])
    }

    @Test(
        "A fault has its place in the whole text",
        arguments: [
            ("", 1, 1), ("[]", 1, 1), ("{", 1, 2), ("{\"a\"", 1, 5), ("{\"a\":}", 1, 6),
            ("{\"a\":1", 1, 7), ("{\"a\":1,}", 1, 8), ("{\"a\":1}}", 1, 8),
            ("{\n\"a\":[1 2]}", 2, 8),
            ("{\"a\":1,\n \"a\":2}", 2, 2), ("{\"a\":1,\n \"b\":{\"$x\":2}}", 2, 7),
            ("{\"strings\":1}", 1, 12), ("{\"strings\":[1]}", 1, 13),
            ("{\"strings\":[\"a\"", 1, 16), ("{\"strings\":[\"a\",]}", 1, 17),
        ])
    func refusing(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSONError.self) { try members(of: text) }
        #expect(error.line == line && error.column == column, "\(error)")
    }

    @Test("Places are counted in code points")
    func places() throws {
        let reader = try JSONObjectReader(Array("{\n\"é\u{1F600}\": 1}".utf8))
        #expect(reader.place(ofByte: 0) == (1, 1))
        #expect(reader.place(ofByte: 9) == (2, 4))
    }
}
