import PropertyList
import TestSupport
import TestTiers
import Testing
import XMLPropertyList

/// Property lists in XML that are read; numbers are the invariants of `XMLPropertyList`.
@Suite("XML property lists", .startsPrograms) struct ReadingTests {
    static func document(_ body: String, _ declaration: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd"\(declaration)>
        <plist version="1.0">
        \(body)
        </plist>
        """
    }

    static func read(_ body: String) throws -> PropertyList {
        try PropertyList(XMLPropertyList(Array(document(body).utf8)).binary)
    }

    @Test(
        "are read with every scalar",
        arguments: [
            ("<integer>42</integer>", PropertyList.Value.integer(42)),
            ("<integer> -7\n</integer>", .integer(-7)), ("<integer>+7</integer>", .integer(7)),
            ("<integer>0x1F</integer>", .integer(31)), ("<integer>-0Xff</integer>", .integer(-255)),
            ("<integer>18446744073709551615</integer>", .integer(Int128(UInt64.max))),
            ("<integer>-170141183460469231731687303715884105728</integer>", .integer(.min)),
            ("<real>1</real>", .real(1)), ("<real> -2.5e3 </real>", .real(-2500)),
            ("<real>+infinity</real>", .real(.infinity)), ("<real>-INF</real>", .real(-.infinity)),
            ("<real>.5</real>", .real(0.5)), ("<true/>", .boolean(true)),
            ("<false></false>", .boolean(false)), ("<true> <!-- yes --> </true>", .boolean(true)),
            ("<date>2001-01-01T00:00:00Z</date>", .date(0)),
            ("<date>2024-02-29T12:00:01Z</date>", .date(730_900_801)),
            ("<date>1582-10-04T00:00:00Z</date>", .date(-13_198_550_400)),
            ("<date>-0001-12-31T23:59:59Z</date>", .date(-63_145_526_401)),
            ("<dict><key>CF$UID</key><integer>7</integer></dict>", .uid(7)),
            (
                "<dict><key>CF$UID</key><integer>18446744073709551615</integer></dict>",
                .uid(.max)
            ),
        ])
    func scalar(body: String, value: PropertyList.Value) throws {
        let list = try Self.read(body)
        #expect(list.value(at: list.root) == value)
        // Nothing is left in the list that the root does not need.
        #expect(list.objectCount == 1)
    }

    @Test(
        "are read with every string",
        arguments: [
            ("<string></string>", ""), ("<string/>", ""), ("<string> a\tb\n</string>", " a\tb\n"),
            ("<string>a&amp;b&lt;&gt;&quot;&apos;</string>", "a&b<>\"'"),
            ("<string>&#x1F600;&#13;</string>", "\u{1F600}\r"),
            ("<string><![CDATA[<&]]>x<!-- no -->y</string>", "<&xy"),
            ("<string>e\u{301}é中😀</string>", "e\u{301}é中😀"),
        ])
    func string(body: String, text: String) throws {
        let list = try Self.read(body)
        #expect(list.text(at: list.root) == Text(text))
    }

    @Test(
        "are read with data in base64, with any white space in it",
        arguments: [
            ("<data></data>", []), ("<data>\n\tAQID\n\t</data>", [1, 2, 3]),
            ("<data>A Q\t=\r\n=</data>", [1]),
        ] as [(String, [UInt8])])
    func data(body: String, bytes: [UInt8]) throws {
        let list = try Self.read(body)
        guard case .data(let range) = list.value(at: list.root) else {
            Issue.record("It is no data.")
            return
        }
        #expect(Array(list.data(of: range)) == bytes)
    }

    @Test("report the places of the keys of the outermost dictionary")
    func rootKeyPlaces() throws {
        let body = """
            <dict>
            <key>CF$UID</key><integer>1</integer>
              <key>a</key><dict><key>b</key><string>c</string></dict>
            <key>c</key><array/><key>a</key><true/>
            <key>b</key><true/>
            </dict>
            """
        let document = try XMLPropertyList(Array(Self.document(body).utf8))
        let list = try PropertyList(document.binary)
        guard case .dictionary(let keys, _) = list.value(at: list.root) else {
            Issue.record("It is no dictionary.")
            return
        }
        let texts = list.elements(of: keys).map { list.text(at: $0)?.string }
        #expect(texts == ["CF$UID", "a", "c", "b"])
        #expect(document.rootKeyPlaces.map(\.line) == [5, 6, 7, 8])
        #expect(document.rootKeyPlaces.map(\.column) == [1, 3, 1, 1])
        #expect(try XMLPropertyList(Array("<array/>".utf8)).rootKeyPlaces.isEmpty)
    }

    @Test("have a reference only for one integer under CF$UID (2)")
    func references() throws {
        for body in [
            "<dict><key>CF$UID</key><string>7</string></dict>",
            "<dict><key>CF$UID</key><array><integer>7</integer></array></dict>",
            "<dict><key>CF$UID</key><integer>7</integer><key>b</key><true/></dict>",
            "<dict><key>a</key><true/><key>CF$UID</key><integer>7</integer></dict>",
        ] {
            let list = try Self.read(body)
            guard case .dictionary(let keys, let values) = list.value(at: list.root) else {
                Issue.record("\(body) was not read as a dictionary.")
                continue
            }
            #expect(list.value(ofKey: "CF$UID", keys: keys, values: values) != nil)
            #expect(
                keys.count == 1 || body.contains("<key>CF$UID</key><integer>7</integer>"))
        }
    }

    @Test("are the same in every encoding that expat knows")
    func encodings() throws {
        let text = Self.document("<string>é</string>")
        let expected = try XMLPropertyList(Array(text.utf8)).binary
        let latin = text.replacing("UTF-8", with: "ISO-8859-1").unicodeScalars.map {
            UInt8($0.value)
        }
        #expect(try XMLPropertyList(latin).binary == expected)
        let utf16 = "\u{FEFF}" + text.replacing("UTF-8", with: "UTF-16")
        for isBigEndian in [false, true] {
            let bytes = utf16.utf16.flatMap { unit in
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                return isBigEndian ? [high, low] : [low, high]
            }
            #expect(XMLPropertyList.isXML(bytes))
            #expect(try XMLPropertyList(bytes).binary == expected)
        }
        #expect(try XMLPropertyList([0xEF, 0xBB, 0xBF] + Array(text.utf8)).binary == expected)
    }

    @Test("are distinguished from binary ones by their first character")
    func detection() {
        #expect(XMLPropertyList.isXML(Array(" \n<plist>".utf8)))
        #expect(!XMLPropertyList.isXML(Array("bplist00".utf8)))
        #expect(!XMLPropertyList.isXML([]))
    }

    @Test("of Python are read as Python reads them (1)", arguments: 0..<12)
    func python(seed: Int) throws {
        var random = SeededGenerator(case: seed)
        let xml = try PythonPropertyList.random(random.next(), isXML: true)
        let document = try XMLPropertyList(xml)
        #expect(try PythonPropertyList.areSame(xml: xml, binary: document.binary))
        #expect(try XMLPropertyList(xml).binary == document.binary)
        // Python's floats and ours are spelled alike but for infinity, and data is wrapped elsewhere.
        let again = try PropertyList(document.binary).xml()
        #expect(try XMLPropertyList(again).binary == document.binary)
    }

    @Test("report the places of the objects in their binary form")
    func places() throws {
        let text = Self.document(
            "<array>\n\t<string>é</string><dict>\n<key>k</key> <true/></dict></array>")
        let document = try XMLPropertyList(Array(text.utf8))
        let list = try PropertyList(document.binary)
        func place(_ value: PropertyList.Value?) -> [Int] {
            for index in list.indices where value == nil || list.value(at: index) == value {
                let place = document.place(ofByte: list.byteOffset(of: index))
                #expect(
                    Array(text.utf8)[place.byteOffset] == UInt8(ascii: "<"),
                    "no element begins there")
                return [place.line, place.column]
            }
            return []
        }
        #expect(place(nil) == [4, 1])
        #expect(place(.boolean(true)) == [6, 14])
        let dictionary = try #require(
            list.indices.first { index in
                if case .dictionary = list.value(at: index) { true } else { false }
            })
        #expect(place(list.value(at: dictionary)) == [5, 20])
        // Beyond the objects it is the last of them, and before them the root.
        #expect(document.place(ofByte: 0) == document.place(ofByte: 8))
    }

    @Test(
        "may come after white space, and without a <plist>",
        arguments: [
            "<dict><key>a</key><array/></dict>", "<!-- c --><dict><key>a</key><array/></dict>",
            " \r\n\t<?xml version='1.0'?><plist><dict><key>a</key><array/></dict></plist>",
            "\u{FEFF}\n<?xml version='1.0'?>\n<dict><key>a</key><array/></dict>\n<!-- c -->",
        ])
    func bare(text: String) throws {
        let expected = try Self.read("<dict><key>a</key><array/></dict>")
        #expect(try XMLPropertyList(Array(text.utf8)).binary == expected.bytes)
        #expect(try XMLPropertyList(Array("\n<true/> ".utf8)).binary == Self.read("<true/>").bytes)
    }

    @Test("have the last of equal keys, among few and among many", arguments: [0, 14, 20_000])
    func repeatedKeys(count: Int) throws {
        func document(_ value: String, _ more: String = "") -> [UInt8] {
            let others = (0..<count).map { "<key>\($0)</key><true/>" }.joined()
            return Array(
                "<dict><key>é</key>\(value)\(others)<key>z</key><false/>\(more)</dict>".utf8)
        }
        let one = try XMLPropertyList(document("<array/>"))
        #expect(one.repeatedKey == nil)
        let list = try XMLPropertyList(
            document("<string>old</string>", "\n<key>é</key><array/>"))
        #expect([list.repeatedKey?.line, list.repeatedKey?.column] == [2, 1])
        #expect(try PropertyList(list.binary).xml() == PropertyList(one.binary).xml())
    }

    @Test("are read with control characters that macOS does not escape") func controls() throws {
        let text = "\u{1B}Window\u{0}\u{1F}\u{E000}&#xE020;&#57408;\t"
        let xml = "<array><string>\(text)</string>\u{9}<true/>\n<string>é</string></array>"
        let document = try XMLPropertyList(Array(xml.utf8))
        let list = try PropertyList(document.binary)
        guard case .array(let elements) = list.value(at: list.root) else {
            Issue.record("no array")
            return
        }
        let expected: Text = "\u{1B}Window\u{0}\u{1F}\u{E000}\u{E020}\u{E040}\t"
        #expect(list.text(at: list.element(0, of: elements)) == expected)
        #expect(!list.isSpelledInXML)
        let last = list.byteOffset(of: list.element(2, of: elements))
        let start = xml.utf8.count - "<string>é</string></array>".utf8.count
        #expect(document.place(ofByte: last).byteOffset == start)
    }
}
