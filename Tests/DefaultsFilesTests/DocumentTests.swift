import DefaultsFiles
import DefaultsModel
import KeyedArchive
import TestTiers
import Testing

@Suite(.startsPrograms) struct DocumentTests {
    @Test func `JSON has values and locks in their order`() throws {
        let document = try document(
            """
            {
              "Size": 12.5,
              "$locked": ["Name", "Window*"],
              "User": {"$class": "Account", "name": "ada"},
              "None": null
            }
            """)
        #expect(
            try document.json == [
                "Size 12.5", #"User {"$class":"Account","name":"ada"}"#, "None null",
            ])
        #expect(document.patterns == ["Name", "Window*"] && document.remarks.isEmpty)
    }

    @Test(arguments: [
        "{}", "\u{FEFF}{}", " {\r\n} \n", #"{"$locked":[]}"#, "<plist><dict/></plist>", xml(""),
        "\u{FEFF}<plist><dict/></plist>",
        #"{"$schema": "https://example.org/a.json", "$comment": [1, {"$foo": 2}]}"#,
        xml(
            "<key>$comment</key><dict><key>$x</key><true/></dict><key>$schema</key><string>a</string>"
        ),
    ])
    func `A file may be without values and locks`(text: String) throws {
        let document = try document(text)
        #expect(document.values.isEmpty && document.locks.isEmpty && document.remarks.isEmpty)
    }

    @Test(arguments: ["FMT_XML", "FMT_BINARY"])
    func `A property list and JSON that Python writes have the same values`(format: String) throws {
        let values = """
            values = {"a": 1, "b": [True, 2.5, "é"], "c": {"d": -(1 << 60), "e": {}},
                "Name*": "x", "$locked": ["Name", "*"], "f": 1 << 63}
            """
        let list = try document(
            python(
                values
                    + "\nout.write(plistlib.dumps(values, fmt=plistlib.\(format), sort_keys=False))"
            ))
        let json = try document(python(values + "\nout.write(json.dumps(values).encode())"))
        #expect(try list.json == json.json && list.values.count == 5)
        #expect(list.values.map(\.archive.bytes) == json.values.map(\.archive.bytes))
        #expect(list.patterns == ["Name", "*"] && json.patterns == list.patterns)
    }

    @Test func `A property list can have what JSON lacks: dates, data, archives`() throws {
        let document = try document(
            python(
                """
                archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
                    "$objects": ["$null", "ada"]}
                plistlib.dump({"date": datetime.datetime(2001, 1, 2), "data": b"\\x01",
                    "archive": archive}, out, fmt=plistlib.FMT_BINARY)
                """))
        #expect(
            try document.json == [
                #"archive "ada""#, #"data {"$data":"AQ=="}"#,
                #"date {"$class":"NSDate","NS.time":86400.0}"#,
            ])
    }

    @Test func `Keys that are equal as Swift strings can be two keys`() throws {
        #expect(try document("{\"caf\u{E9}\": 1, \"cafe\u{301}\": 2}").values.count == 2)
    }

    @Test func `If an XML key is there twice, the last value counts, with a remark`() throws {
        let document = try document(
            xml(
                """
                <key>a</key><integer>1</integer>
                <key>b</key><integer>2</integer>
                <key>a</key><integer>3</integer>
                """))
        #expect(try document.json == ["a 3", "b 2"])
        #expect(document.remarks.map(\.code) == [.repeatedKey])
        #expect(document.remarks.map(\.line) == [6])
    }

    @Test func `Locks that change nothing get a remark`() throws {
        let json = try document(
            """
            {"a": 1,
             "$locked": ["a", "b", "c*",
                         "b"]}
            """)
        #expect(json.patterns == ["a", "b", "c*", "b"])
        #expect(json.remarks.map(\.code) == [.idleLock, .idleLock])
        #expect(json.remarks.map(\.line) == [2, 3] && json.remarks.map(\.column) == [14, 14])
        let list = try document(
            xml("<key>a</key><true/>\n<key>$locked</key><array><string>a</string></array>"))
        #expect(
            list.remarks.map(\.description).first?.hasPrefix("a.json:5:1: The lock 'a'") == true)
        let many = try document(
            #"{"$locked": [\#(Array(repeating: #""k""#, count: 60_000).joined(separator: ","))]}"#)
        #expect(many.locks.count == 60_000 && many.remarks.count == 10)
    }
}
