import PropertyList
import TestSupport
import TestTiers
import Testing
import XMLPropertyList

@Suite("Property lists written as XML", .startsPrograms) struct WritingTests {
    static func list(_ build: (inout PropertyListWriter) -> ObjectIndex) throws -> PropertyList {
        var writer = PropertyListWriter()
        let root = build(&writer)
        return try PropertyList(writer.finish(root: root))
    }

    @Test("are laid out as Apple's are, in the order of the file")
    func layout() throws {
        let list = try Self.list { writer in
            let (z, a, e) = (
                writer.add(string: "z"), writer.add(string: "a"), writer.add(string: "e")
            )
            let values = [
                writer.add(uid: 1), writer.add(array: [writer.add(boolean: true), z]),
                writer.add(array: []),
            ]
            return writer.add(keys: [z, a, e], values: values)
        }
        let expected = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>z</key>
            \t<dict>
            \t\t<key>CF$UID</key>
            \t\t<integer>1</integer>
            \t</dict>
            \t<key>a</key>
            \t<array>
            \t\t<true/>
            \t\t<string>z</string>
            \t</array>
            \t<key>e</key>
            \t<array/>
            </dict>
            </plist>

            """
        #expect(String(decoding: try list.xml(), as: UTF8.self) == expected)
    }

    @Test("have the same values for Python as before", arguments: 0..<12)
    func python(seed: Int) throws {
        var random = SeededGenerator(case: seed)
        let binary = try PythonPropertyList.random(random.next(), isXML: false)
        let xml = try PropertyList(binary).xml()
        #expect(try PythonPropertyList.areSame(xml: xml, binary: binary))
        let again = try XMLPropertyList(xml)
        #expect(try PythonPropertyList.areSame(xml: xml, binary: again.binary))
        #expect(try PropertyList(again.binary).xml() == xml)
    }

    @Test("equal Python's output byte for byte, if both wrap lines alike")
    func pythonText() throws {
        let list = try Self.list { writer in
            let elements = [
                writer.add(string: "a<b>&\"é\t\n😀"), writer.add(integer: -5),
                writer.add(integer: Int128(UInt64.max)), writer.add(real: 0.1),
                writer.add(real: 1e-7), writer.add(real: 1e22), writer.add(boolean: false),
                writer.add(date: 86_399), writer.add(data: [UInt8](repeating: 7, count: 5)),
                writer.add(array: []), writer.add(keys: [], values: []), writer.add(string: ""),
            ]
            return writer.add(array: elements)
        }
        #expect(try list.xml() == PythonPropertyList.xml(of: list.bytes))
    }

    @Test(
        "are refused with values that XML cannot represent",
        arguments: [
            { $0.add(string: "a\u{0}") }, { $0.add(string: "\u{1B}[31m") },
            { $0.add(string: "\u{FFFF}") }, { $0.add(string: Text(utf16: [0xD800])) },
            { $0.add(date: 0.5) }, { $0.add(date: .nan) }, { $0.add(date: 1e300) },
            { $0.add(keys: [$0.add(string: "CF$UID")], values: [$0.add(integer: 1)]) },
            { $0.add(keys: [$0.add(string: "\u{1}")], values: [$0.add(integer: 1)]) },
        ] as [@Sendable (inout PropertyListWriter) -> ObjectIndex])
    func refused(build: @Sendable (inout PropertyListWriter) -> ObjectIndex) throws {
        let list = try Self.list { writer in
            writer.add(array: [writer.add(boolean: true), build(&writer)])
        }
        let error = #expect(throws: XMLWritingError.self) { try list.xml() }
        #expect(error?.code == .notRepresentable)
        #expect((error?.byteOffset ?? 0) > list.byteOffset(of: list.root))
    }

    @Test("are refused with sets") func sets() throws {
        // An array, changed into a set by its marker.
        var bytes = try Self.list { writer in writer.add(array: [writer.add(boolean: true)]) }.bytes
        for marker in [0xB1, 0xC1] as [UInt8] {
            bytes[8] = marker
            let error = #expect(throws: XMLWritingError.self) { try PropertyList(bytes).xml() }
            #expect(error?.byteOffset == 8)
        }
    }

    @Test("are refused if shared collections make them too large") func bomb() throws {
        let list = try Self.list { writer in
            var array = writer.add(array: [])
            for _ in 0..<60 { array = writer.add(array: [array, array]) }
            return array
        }
        let error = #expect(throws: XMLWritingError.self) { try list.xml(limit: 1 << 20) }
        #expect(error?.code == .outputTooLarge)
    }
}
