import PropertyList
import Testing
import XMLPropertyList

/// What CoreFoundation keeps or passes over, though XML says something else.
@Suite struct KeptTextTests {
    private func list(_ bytes: [UInt8]) throws -> PropertyList {
        try PropertyList(XMLPropertyList(bytes).binary)
    }

    private func texts(_ bytes: [UInt8]) throws -> [Text] {
        let list = try list(bytes)
        return list.indices.compactMap { list.text(at: $0) }
    }

    /// The strings of an array, in different places of a document with the line ends of Windows.
    @Test(arguments: [
        ("<string>a\rb\r\nc\n</string>", "a\rb\r\nc\n"),
        ("<string>\r</string>", "\r"),
        ("<string\r\n>\r&#13;\r\n</string\r>", "\r\r\r\n"),
        ("<string><![CDATA[<\r\n&\r]]>\r</string>", "<\r\n&\r\r"),
        ("<string a='>\r'>\u{1B}\r</string>", "\u{1B}\r"),
        ("<string><!-- don't\r -->a\r<?x '\r?>b</string>", "a\rb"),
        ("<string>é\r\u{E000}</string>", "é\r\u{E000}"),
    ])
    func `A carriage return in a text is kept, and one between elements is white space`(
        body: String, text: String
    ) throws {
        let document =
            "<?xml version='1.0'?>\r\n<!DOCTYPE plist [\r<!-- don't -->\r<!ELEMENT key (#PCDATA)>\r]>\r"
            + "\r\n<plist>\r\n<array>\r\n\(body)\r\n\r<data>AQ\r\n==\r</data>\r<true/>\r\n</array>\r\n"
            + "</plist>\r\n"
        #expect(try texts(Array(document.utf8)) == [Text(text)])
    }

    @Test func `A carriage return in a key is kept, too`() throws {
        let document =
            "<dict><key>a\r\nb</key><true/><key>CF$UID\r</key><integer>1\r\n</integer></dict>"
        #expect(try texts(Array(document.utf8)) == ["a\r\nb", "CF$UID\r"])
    }

    @Test(arguments: ["UTF-16", "ISO-8859-1", "US-ASCII"])
    func `A carriage return is kept in every encoding`(encoding: String) throws {
        let text = "<?xml version='1.0' encoding='\(encoding)'?>\r\n<string>a\r\nb\r</string>"
        let documents: [[UInt8]] =
            encoding != "UTF-16"
            ? [Array(text.utf8)]
            : [true, false].map { isLittle in
                ("\u{FEFF}" + text).utf16.flatMap { unit in
                    let (low, high) = (UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8))
                    return isLittle ? [low, high] : [high, low]
                }
            }
        for document in documents { #expect(try texts(document) == ["a\r\nb\r"]) }
    }

    @Test func `A fault after carriage returns has its place in the original`() {
        let text = "<array>\r\n<string>\r\r\r</string>\r\n  <nothing/></array>"
        let error = #expect(throws: XMLPropertyListError.self) {
            try XMLPropertyList(Array(text.utf8))
        }
        #expect(error?.place.line == 3 && error?.place.column == 3)
        let start = text.utf8.count - "<nothing/></array>".utf8.count
        #expect(error?.place.byteOffset == start)
    }

    @Test(arguments: [
        "<!-- a > ' -->", " <!-- a -->\r\n<!-- b -->\n", "<?note a='?'?> ", "\u{FEFF}<!-- é -->\n",
        "\n<?xml-stylesheet href='a'?><!-- <?xml version='1.0'?> -->",
    ])
    func `Comments, instructions and white space may come before the declaration`(
        before: String
    ) throws {
        let text =
            before + "<?xml version='1.0' encoding='UTF-8'?>\n<plist><string>a</string></plist>"
        #expect(try texts(Array(text.utf8)) == ["a"])
        let wrong = Array((text.dropLast(8) + "<b/></plist>").utf8)
        let error = #expect(throws: XMLPropertyListError.self) { try XMLPropertyList(wrong) }
        #expect(error?.place.byteOffset == wrong.count - "<b/></plist>".utf8.count)
        let lines = before.unicodeScalars.count { $0 == "\n" }
        #expect(error?.place.line == lines + 2)
    }

    @Test func `Attributes are passed over`() throws {
        let text = """
            <plist version='1.0' xmlns='http://example.com/'><dict id="1"><key a='>'>a</key><array b='c'>\
            <string lang="en">b</string><integer size='64'>1</integer><true x=''/></array></dict></plist>
            """
        #expect(try texts(Array(text.utf8)) == ["a", "b"])
    }

    @Test(arguments: ["<!-- a", "<?x", "<!-- a --> b <?xml version='1.0'?><true/>", "<!-- -->"])
    func `What never begins is refused`(text: String) {
        #expect(throws: XMLPropertyListError.self) { try XMLPropertyList(Array(text.utf8)) }
    }
}
