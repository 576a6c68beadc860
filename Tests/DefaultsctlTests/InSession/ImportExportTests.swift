import ArchiveTestSupport
import DefaultsProtocol
import Foundation
import TestSupport
import Testing

@testable import ServiceHarness
@testable import ToolHarness

/// Whole domains that are exported to files and imported, compared with Python's plistlib.
@Suite(.inSession) struct ImportExportTests {
    let session = TestSession.current

    /// Every kind of value, as the JSON of a domain.
    private static let domain =
        #"{"array":[1,"two",[],{"a":1.5}],"bool":true,"data":{"$data":"3q2+7w=="},"#
        + #""date":{"$class":"NSDate","NS.time":10.0},"dictionary":{"k":[{"l":false}]},"#
        + #""exact":{"$class":"NSDate","NS.time":0.1},"integer":-5,"large":18446744073709551615,"#
        + #""nothing":null,"object":{"$class":"Account","books":[{"$class":"Book","title":"Dune"}],"#
        + #""name":"ada"},"pairs":{"$class":"NSDictionary","NS.keys":["$class",1],"#
        + #""NS.objects":["a","b"]},"real":1.0,"#
        + #""set":{"$class":"NSSet","NS.objects":[1]},"text":"Café <&> \n😀"}"#

    private func value(_ domain: String) async -> String {
        await session.tool("read", domain, "--json").output
    }

    private func mode(of file: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }

    private func path(_ name: String) -> String { "\(session.directory.path)/\(name)" }

    private func fill() async throws {
        let file = try session.directory.write(Self.domain, to: "domain.json")
        #expect(await session.tool("import", "org.example.A", file).error == "")
        #expect(await value("org.example.A") == Self.domain + "\n")
    }

    @Test(arguments: ["xml", "binary", "json"])
    func `A domain that is exported is the same when it is imported`(format: String) async throws {
        try await fill()
        let file = path("exported")
        #expect(
            await session.tool("export", "org.example.A", file, "--format", format).error == "")
        #expect(await session.tool("import", "org.example.B", file).error == "")
        // XML has dates to the second.
        let expected =
            format == "xml"
            ? Self.domain.replacing(#""NS.time":0.1"#, with: #""NS.time":0.0"#) : Self.domain
        #expect(await value("org.example.B") == expected + "\n")
        let exported = await session.bytes("export", "org.example.A", "-", "--format", format)
        _ = await session.bytes("import", "org.example.C", "-", input: exported)
        #expect(await value("org.example.C") == expected + "\n")
    }

    @Test(arguments: [
        "\n  <?xml version=\"1.0\"?>\n<plist><dict><key>a</key><integer>1</integer></dict></plist>",
        "<dict><key>a</key><integer>1</integer></dict>",
        "<!-- c --><dict><key>a</key><integer>1</integer></dict>",
    ])
    func `XML after white space and without a plist element is accepted`(text: String) async throws
    {
        let file = try session.directory.write(text, to: "some.plist")
        #expect(await session.tool("import", "org.example.A", file).error == "")
        #expect(await value("org.example.A") == #"{"a":1}"# + "\n")
        #expect(await session.tool("write", "org.example.B", "k", text).error == "")
        #expect(await value("org.example.B") == #"{"k":{"a":1}}"# + "\n")
    }

    @Test(arguments: [
        "{ a = 1; b = 2; a = 3; }",
        "<dict><key>a</key><true/><key>b</key><string>2</string><key>a</key><string>3</string></dict>",
    ])
    func `Of equal keys in a file the last one counts, with a remark`(text: String) async throws {
        let file = try session.directory.write(text, to: "some.plist")
        let answer = await session.tool("import", "org.example.A", file)
        #expect(answer.status == 0)
        #expect(answer.error.hasSuffix("); the last one counts.\n"), "\(answer.error)")
        #expect(await value("org.example.A") == #"{"a":"3","b":"2"}"# + "\n")
    }

    @Test func `Importing keeps the other keys, or removes them on request, in one change`()
        async throws
    {
        await session.tool("write", "org.example.A", "{ a = 1; b = 2; }")
        let before = try await session.generation()
        let file = try session.directory.write("{ b = 3; c = 4; }", to: "old.plist")
        #expect(await session.tool("import", "org.example.A", file).status == 0)
        #expect(await value("org.example.A") == #"{"a":"1","b":"3","c":"4"}"# + "\n")
        #expect(await session.tool("import", "--replace", "org.example.A", file).status == 0)
        #expect(await value("org.example.A") == #"{"b":"3","c":"4"}"# + "\n")
        #expect(try await session.generation() != before)
        let other = try session.directory.write("{ x = 1; y = 2; }", to: "other.plist")
        #expect(await session.tool("import", "--replace", "org.example.A", other).status == 0)
        let change = try #require(session.service.peer.changes.last)
        #expect(change.changed == ["x", "y"] && change.removed == ["b", "c"])
    }

    @Test(arguments: [
        ("{ a = 1", "Could not parse property list from"), ("{\"a\": 1", "Could not parse"),
        ("", "is empty"), (" {\n\"a\" : [1 2]}", "(line 2, column"),
        ("[1 2]", "The text is not a JSON object. (line 1, column 1"),
        ("{\"a\\u0000b\": 1}", "The key 'a"), ("{\"a\\000b\" = 1;}", "has a NUL, which is not"),
        ("(1, 2)", "was not a dictionary"), ("[1]", "Could not parse"),
        ("<plist><array/></plist>", "was not a dictionary"), ("bplist00", "Could not parse"),
        ("<plist><dict><key>a</key></dict></plist>", "line 1, column"),
        (
            "<plist><dict><key>a</key><dict><key>CF$UID</key><integer>1</integer></dict></dict></plist>",
            "reference (CF$UID)"
        ),
        ("{ \"\" = 1; b = 2; }", "key"),
    ])
    func `A file that is not a domain changes nothing`(text: String, sentence: String) async throws
    {
        await session.tool("write", "org.example.A", "a", "-int", "1")
        let file = try session.directory.write(text, to: "bad")
        let answer = await session.tool("import", "--replace", "org.example.A", file)
        #expect(answer.status == 1)
        #expect(answer.error.contains(sentence), "\(answer.error)")
        #expect(answer.error.split(separator: "\n").count == 1)
        #expect(await value("org.example.A") == #"{"a":1}"# + "\n")
    }

    @Test func `Invalid JSON is refused with its place`() async throws {
        let file = try session.directory.write("{\"a\": 1,\n \"b\": [1 2]}", to: "bad.json")
        let answer = await session.tool("import", "org.example.A", file, "--format", "json")
        #expect(answer.status == 1)
        #expect(answer.error.contains("(line 2, column 10)"), "\(answer.error)")
        let meant = try session.directory.write("{ a: 1 }", to: "meant.json")
        let sentence = await session.tool("import", "org.example.A", meant).error
        #expect(sentence.contains("(line 1, column 3)") && !sentence.contains("= "), "\(sentence)")
        for text in [#"{"a":1,"a":2}"#, #"{"a":1}}"#, #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a\":1}"#]
        {
            let file = try session.directory.write(text, to: "bad.json")
            #expect(
                await session.tool("import", "org.example.A", file, "--format", "json").status == 1)
        }
        #expect(await session.tool("domains").output == "\n")
    }

    @Test
    func `An export replaces its file as a whole, keeps its mode, and follows a link`() async throws
    {
        await session.tool("write", "org.example.A", "a", "-int", "1")
        let file = try session.directory.write("old", to: "file")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: path("link"), withDestinationPath: "file")
        #expect(
            await session.tool("export", "org.example.A", path("link"), "--format", "xml").status
                == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("<?xml"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link")) == "file")
        #expect(try mode(of: file) == 0o640)
        #expect(await session.tool("export", "org.example.A", path("new")).status == 0)
        #expect(try mode(of: path("new")) == 0o600)
        let refused = await session.tool("export", "org.example.A", path("nowhere/file"))
        #expect(refused.status == 1)
        #expect(refused.error.contains("Could not export domain org.example.A to"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: session.directory.path)
                .allSatisfy { !$0.contains(".XX") && !$0.hasPrefix("file.") })
    }

    @Test
    func `A value that XML cannot represent is exported as data and imported as it was`()
        async throws
    {
        await session.tool("write", "org.example.A", "a", "-int", "1")
        await session.tool("write", "org.example.A", "b", #"{"\033Window\033Zoom"="@~^\U2191";}"#)
        await session.tool("write", "org.example.A", "c", "--json", #""\ud800""#)
        let file = path("xml")
        let answer = await session.tool("export", "org.example.A", file, "--format", "xml")
        #expect(answer.status == 0)
        #expect(answer.error.contains("'b'") && answer.error.contains("'c'"))
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: URL(filePath: file)), format: nil)
        #expect((list as? [String: Any])?.keys.sorted() == ["a", "b", "c"])
        #expect(await session.tool("import", "org.example.B", file).error == "")
        let values = await value("org.example.A")
        #expect(await value("org.example.B") == values)
        #expect(await session.tool("export", "org.example.A", path("file")).error == "")
    }

    @Test func `A key that XML cannot represent is named, and the others are exported`()
        async throws
    {
        await session.tool("write", "org.example.A", "a", "-int", "1")
        await session.tool("write", "org.example.A", "b\u{1B}", "-int", "1")
        let answer = await session.tool("export", "org.example.A", "-")
        #expect(answer.status == 1 && answer.output.contains("<key>a</key>"))
        #expect(answer.error.contains("Left out: 'b"), "\(answer.error)")
    }

    @Test func `Control characters that a Mac wrote into XML are accepted`() async throws {
        let text = "<plist><dict><key>a</key><string>\u{1B}Zoom</string></dict></plist>"
        let file = try session.directory.write(text, to: "mac.plist")
        #expect(await session.tool("import", "org.example.A", file).error == "")
        #expect(await value("org.example.A") == #"{"a":"\u001bZoom"}"# + "\n")
    }

    @Test
    func `A value too large to show, or very deep, hides no other, and is exported completely`()
        async throws
    {
        await session.tool("write", "org.example.A", "word", "here")
        for (key, archive) in [
            ("bomb", Tree.sharedArrays(depth: 40, width: 2)),
            ("deep", Tree.sharedArrays(depth: 3000, width: 1)),
        ] { try await session.set("org.example.A", key, archive) }
        // From now on their bytes are those that the tool writes.
        let list = await session.bytes("export", "org.example.A", "-", "--format", "binary")
        _ = await session.bytes("import", "org.example.A", "-", input: list)
        #expect(await session.tool("find", "here").output.contains("word = here;"))
        let json = await session.tool("export", "org.example.A", "-", "--format", "json")
        #expect(json.status == 1 && json.output == "" && json.error.contains("'bomb'"))
        for format in ["xml", "binary"] {
            let file = path(format)
            #expect(
                await session.tool("export", "org.example.A", file, "--format", format).error == "")
            // Setting a key to the value that it has is no change.
            let before = try await session.generation()
            #expect(await session.tool("import", "org.example.A", file).error == "")
            #expect(try await session.generation() == before)
        }
    }

    @Test func `A dictionary with a key that begins with a dollar sign stays one`() async throws {
        #expect(await session.tool("write", "org.example.D", "d", "-dict", "$a", "b").error == "")
        #expect(
            await session.tool("read-type", "org.example.D", "d").output == "Type is dictionary\n")
        let added = await session.tool(
            "write", "org.example.D", "d", "-dict-add", "$c", "-int", "4")
        #expect(added.error == "")
        #expect(
            await session.tool("read", "org.example.D", "d").output
                == "{\n    \"$a\" = b;\n    \"$c\" = 4;\n}\n")
        #expect(
            await value("org.example.D")
                == #"{"d":{"$class":"NSDictionary","NS.keys":["$a","$c"],"NS.objects":["b",4]}}"#
                + "\n")
    }
}
