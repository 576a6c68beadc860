import KeyedArchive
import OpenStepPropertyList
import PropertyList
import Testing

/// Values as macOS's `defaults read` shows them.
@Suite("A value is described") struct DescriptionTests {
    static func describe(_ json: String) throws -> String {
        var writer = DescriptionWriter()
        try KeyedArchive(json: json).render(into: &writer)
        return String(decoding: writer.output, as: UTF8.self)
    }

    /// The value as JSON, and what macOS shows.
    static let table: [(String, String)] = [
        ("true", "1"), ("false", "0"), ("42", "42"), ("-7", "-7"), ("0.5", "0.5"), ("1.0", "1"),
        ("-2.5e3", "-2500"), ("1e16", "10000000000000000"), ("1e17", "1e+17"),
        ("1.5e-5", "1.5e-05"),
        ("0.0001", "0.0001"), ("1e300", "1e+300"), ("-0.0", "-0"), ("0.1", "0.1"),
        ("123456.789", "123456.789"), ("3e-324", "5e-324"), (#"{"$real":"nan"}"#, "nan"),
        (#"{"$real":"-inf"}"#, "-inf"), (#""hello world é""#, "hello world é"), (#""""#, ""),
        ("null", "<null>"), ("[]", "(\n)"), ("{}", "{\n}"), ("[1,2]", "(\n    1,\n    2\n)"),
        ("[-1,0.5,true]", "(\n    \"-1\",\n    \"0.5\",\n    1\n)"),
        (
            #"["","a","a b","en_US","com.example","é😀","\u0000\u001b\u0007\n\t\"\\"]"#,
            """
            (
                "",
                a,
                "a b",
                "en_US",
                "com.example",
                "\\\\U00e9\\\\Ud83d\\\\Ude00",
                "\\000\\033\\a\\n\\t\\"\\\\"
            )
            """
        ),
        (#"{"b":1,"a b":"x","A":[]}"#, "{\n    A =     (\n    );\n    \"a b\" = x;\n    b = 1;\n}"),
        (
            #"{"apps":[{"data":{"url":"/a"}},[1,[2]]]}"#,
            """
            {
                apps =     (
                            {
                        data =             {
                            url = "/a";
                        };
                    },
                            (
                        1,
                                    (
                            2
                        )
                    )
                );
            }
            """
        ),
        (#"{"$data":"3q2+7w=="}"#, "{length = 4, bytes = 0xdeadbeef}"),
        (#"{"$data":""}"#, "{length = 0, bytes = 0x}"),
        (
            #"[{"$data":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"}]"#,
            "(\n    {length = 24, bytes = 0x000102030405060708090a0b0c0d0e0f1011121314151617}\n)"
        ),
        (
            #"{"$data":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGA=="}"#,
            "{length = 25, bytes = 0x00010203 04050607 08090a0b 0c0d0e0f ... 11121314 15161718 }"
        ),
        (#"{"$date":0}"#, "2001-01-01 00:00:00 +0000"),
        (#"[{"$date":730900801.75}]"#, "(\n    \"2024-02-29 12:00:01 +0000\"\n)"),
        (
            #"{"$class":"Account","username":"ada"}"#,
            "{\n    \"$class\" = Account;\n    username = ada;\n}"
        ),
    ]

    @Test("as macOS describes it", arguments: table)
    func description(json: String, text: String) throws {
        #expect(try Self.describe(json) == text)
    }

    @Test("as an error if the text would be larger than the limit") func limit() throws {
        let levels = 300
        let json =
            String(repeating: "[0,", count: levels) + "0" + String(repeating: "]", count: levels)
        var writer = DescriptionWriter(limit: 1000)
        let archive = try KeyedArchive(json: json)
        #expect(throws: DescriptionWriter.OutputTooLarge.self) { try archive.render(into: &writer) }
        #expect(writer.output.count < 3000)
    }

    @Test("without a part that is taken back") func rewinding() throws {
        var writer = DescriptionWriter()
        try writer.beginDictionary()
        let mark = writer.mark
        try writer.key("a")
        try writer.beginArray()
        try writer.integer(1)
        writer.rewind(to: mark)
        try writer.key("b")
        try writer.boolean(true)
        try writer.endDictionary()
        #expect(String(decoding: writer.output, as: UTF8.self) == "{\n    b = 1;\n}")
    }
}
