import PropertyList
import TestSupport
import Testing
import XMLPropertyList

/// Documents that are not property lists, or are hostile.
@Suite("XML that is refused") struct RefusalTests {
    typealias Code = XMLPropertyListError.Code

    /// The body begins in line 4.
    @Test(
        "is refused with the reason, the line and the column",
        arguments: [
            ("", Code.structure, 3, 1), ("<true/><true/>", .structure, 4, 8),
            ("text", .structure, 4, 1), ("<array>x</array>", .structure, 4, 8),
            ("<true>x</true>", .structure, 4, 7), ("<string><true/></string>", .structure, 4, 9),
            ("<plist/>", .structure, 4, 1), ("<set/>", .structure, 4, 1),
            ("<key>a</key>", .badKey, 4, 1), ("<array>\n <key>a</key></array>", .badKey, 5, 2),
            ("<dict><true/></dict>", .badKey, 4, 7), ("<dict><key>a</key></dict>", .badKey, 4, 7),
            ("<dict><key>a</key><key>b</key></dict>", .badKey, 4, 7),
            ("<dict><key>CF$UID</key></dict>", .badKey, 4, 7),
            (
                "<dict><key>CF$UID</key><integer>1</integer><key>CF$UID</key><integer>1</integer>"
                    + "</dict>", .badKey, 4, 44
            ),
            ("<dict><key>CF$UID</key><integer>-1</integer></dict>", .badValue, 4, 24),
            (
                "<dict><key>CF$UID</key><integer>18446744073709551616</integer></dict>", .badValue,
                4, 24
            ),
            ("<integer></integer>", .badValue, 4, 1), ("<integer>1_0</integer>", .badValue, 4, 1),
            ("<integer>--1</integer>", .badValue, 4, 1), ("<integer>0x</integer>", .badValue, 4, 1),
            ("<integer>0x-1</integer>", .badValue, 4, 1),
            ("<integer>1.0</integer>", .badValue, 4, 1),
            ("<integer>1 2</integer>", .badValue, 4, 1), ("<integer>٣</integer>", .badValue, 4, 1),
            ("<integer>170141183460469231731687303715884105728</integer>", .badValue, 4, 1),
            ("<real></real>", .badValue, 4, 1), ("<real>1e999</real>", .badValue, 4, 1),
            ("<real>0x1p3</real>", .badValue, 4, 1), ("<real>1 2</real>", .badValue, 4, 1),
            ("<date>2001-01-01</date>", .badValue, 4, 1),
            ("<date>2023-02-29T00:00:00Z</date>", .badValue, 4, 1),
            ("<date>2001-13-01T00:00:00Z</date>", .badValue, 4, 1),
            ("<date>2001-01-01T24:00:00Z</date>", .badValue, 4, 1),
            ("<date>2001-01-01T00:00:00.5Z</date>", .badValue, 4, 1),
            ("<date>2001-01-01T00:00:00</date>", .badValue, 4, 1),
            ("<date>999999999999-01-01T00:00:00Z</date>", .badValue, 4, 1),
            ("<data>AQI</data>", .badValue, 4, 1), ("<data>AQ*=</data>", .badValue, 4, 1),
            ("<string>&nothing;</string>", .entity, 4, 9),
            ("<array>\u{1}</array>", .structure, 4, 8), ("<\u{1}/>", .syntax, 4, 2),
            ("<integer>1\u{1}</integer>", .badValue, 4, 1),
            ("<array></dict>", .syntax, 4, 10), ("<array>", .syntax, 5, 3),
        ])
    func refused(body: String, code: Code, line: Int, column: Int) {
        let text = ReadingTests.document(body)
        let error = #expect(throws: XMLPropertyListError.self) {
            try XMLPropertyList(Array(text.utf8))
        }
        #expect(error?.code == code)
        #expect([error?.place.line, error?.place.column] == [line, column], "\(body)")
    }

    @Test(
        "may be no property list at all",
        arguments: [
            "<html/>", "<?xml version='1.0'?><a/>", "<key>a</key>", "<true/><true/>", "<dict/>x",
            " <!-- --> x <?xml version='1.0'?><true/>",
        ])
    func otherXML(text: String) {
        #expect(throws: XMLPropertyListError.self) { try XMLPropertyList(Array(text.utf8)) }
    }

    @Test("may come after white space, with the place in the whole text") func shifted() {
        for (text, line, column, byte) in [
            ("\n \n  <?xml version='1.0'?>\n <a/>", 4, 2, 28), (" \n  <html/>", 2, 3, 4),
            ("\u{FEFF} <html/>", 1, 2, 4),
        ] {
            let error = #expect(throws: XMLPropertyListError.self) {
                try XMLPropertyList(Array(text.utf8))
            }
            #expect([error?.place.line, error?.place.column] == [line, column], "\(text)")
            #expect(error?.place.byteOffset == byte)
        }
    }

    @Test("may be the empty document") func empty() {
        let error = #expect(throws: XMLPropertyListError.self) { try XMLPropertyList([]) }
        #expect(error?.code == .syntax)
    }

    @Test(
        "may have any entity of its own, so that none grows",
        arguments: [
            "[<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]",
            "[<!ENTITY a SYSTEM \"file:///etc/passwd\">]",
            "[<!ENTITY % a SYSTEM \"http://127.0.0.1/\"> %a;]",
        ])
    func entities(declaration: String) {
        let text = ReadingTests.document("<string>&b;</string>", " " + declaration)
        let error = #expect(throws: XMLPropertyListError.self) {
            try XMLPropertyList(Array(text.utf8))
        }
        #expect(error?.code == .entity)
    }

    @Test("may be nested deeper than the limit, by any number of levels") func deep() throws {
        func nested(_ levels: Int) -> [UInt8] {
            let body =
                String(repeating: "<array>", count: levels)
                + String(repeating: "</array>", count: levels)
            return Array(ReadingTests.document(body).utf8)
        }
        let list = try PropertyList(XMLPropertyList(nested(512)).binary)
        #expect(list.objectCount == 512)
        for levels in [513, 200_000] {
            let error = #expect(throws: XMLPropertyListError.self) {
                try XMLPropertyList(nested(levels))
            }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test("may have more bytes or objects than the limits") func limits() {
        let text = Array(ReadingTests.document("<array><true/><true/></array>").utf8)
        for (limits, isRead) in [
            (PropertyList.Limits(byteCount: text.count, objectCount: 3, depth: 1), true),
            (PropertyList.Limits(byteCount: text.count - 1, objectCount: 3, depth: 1), false),
            (PropertyList.Limits(byteCount: text.count, objectCount: 2, depth: 1), false),
            (PropertyList.Limits(byteCount: text.count, objectCount: 3, depth: 0), false),
        ] {
            #expect(((try? XMLPropertyList(text, limits: limits)) != nil) == isRead)
        }
    }

    @Test("may have an integer of a million digits") func hugeInteger() {
        let digits = String(repeating: "9", count: 1_000_000)
        let text = ReadingTests.document("<integer>\(digits)</integer>")
        let error = #expect(throws: XMLPropertyListError.self) {
            try XMLPropertyList(Array(text.utf8))
        }
        #expect(error?.code == .badValue)
    }

    static let everything = ReadingTests.document(
        """
        <dict><key>a</key><array><integer>1</integer><real>1.5</real><true/></array>
        <key>b</key><dict><key>CF$UID</key><integer>3</integer></dict>
        <key>é</key><date>2001-01-01T00:00:00Z</date><key>d</key><data>AQID</data>
        <key>e</key><string>x &amp; y</string></dict>
        """)

    @Test("gives an error or a value, cut at any byte and with any byte changed")
    func damaged() throws {
        let bytes = Array(Self.everything.utf8)
        _ = try PropertyList(XMLPropertyList(bytes).binary)
        var read = 0
        func tryReading(_ bytes: [UInt8]) throws {
            guard let document = try? XMLPropertyList(bytes) else { return }
            read += 1
            // Whatever is read is a property list that has a spelling, or an error that says why not.
            let list = try PropertyList(document.binary)
            guard list.isSpelledInXML else { return }
            let xml = try list.xml()
            let again = try XMLPropertyList(xml)
            // A value that another has taken the place of is in the binary form, but nowhere in it.
            #expect(again.binary == document.binary || document.repeatedKey != nil)
            #expect(try PropertyList(again.binary).xml() == xml)
        }
        let places = Thoroughness.places(in: bytes.count)
        for position in places {
            // What follows the last tag is space.
            #expect((try? XMLPropertyList(Array(bytes[..<position]))) == nil)
            for change in [0x01, 0x04, 0x20, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[position] ^= change
                try tryReading(changed)
            }
        }
        let tries = 5 * Array(places).count
        #expect(read > tries / 20 && read < tries)
    }
}
