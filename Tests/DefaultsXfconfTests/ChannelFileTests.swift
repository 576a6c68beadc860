import DBus
import DefaultsModel
import DefaultsXfconf
import Testing

/// The files of channels.
struct ChannelFileTests {
    private static let ada = UserNames(name: "ada", groups: ["staff", "audio"])

    private func file(_ text: String) throws -> ChannelFile {
        try ChannelFile(Array(text.utf8), for: Self.ada)
    }

    private func channel(_ properties: String, attributes: String = "") throws -> ChannelFile {
        try file(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <channel name="test" version="1.0" \(attributes)>\(properties)</channel>
            """)
    }

    /// The values by their properties.
    private func values(_ file: ChannelFile) -> [String: Value] {
        Dictionary(
            uniqueKeysWithValues: file.properties.compactMap { property in
                property.value.map { (property.key.name, $0.value) }
            })
    }

    @Test(arguments: [
        ("int", "5", Value.int32(5)), ("int", "-5", .int32(-5)), ("int", "+5", .int32(5)),
        ("int", "0x10", .int32(16)), ("int", "010", .int32(8)), ("int", "0", .int32(0)),
        ("uint", "4294967295", .uint32(.max)), ("int64", "5", .int64(5)),
        ("uint64", "18446744073709551615", .uint64(.max)), ("uchar", "255", .byte(255)),
        ("char", "-128", .int16(-128)), ("int16", "-5", .int16(-5)), ("uint16", "5", .uint16(5)),
        ("bool", "true", .boolean(true)), ("bool", "false", .boolean(false)),
        ("double", "1.5", .double(1.5)), ("float", "-2e3", .double(-2000)),
        ("string", "a &lt;b&gt; &#233;", .string("a <b> é")), ("string", "", .string("")),
    ])
    func `A scalar has its type`(type: String, text: String, value: Value) throws {
        let file = try channel(#"<property name="p" type="\#(type)" value="\#(text)"/>"#)
        #expect(values(file) == ["/p": value])
    }

    @Test(arguments: [
        ("int", ""), ("int", "x"), ("int", "1 "), ("int", "2147483648"), ("int", "08"),
        ("int", "+-1"), ("int", "--1"), ("int", "0x"), ("uint", "-1"), ("uchar", "256"),
        ("char", "128"), ("bool", "TRUE"), ("bool", "1"), ("double", "1,5"), ("double", ""),
        ("nope", "1"), ("gint", "1"),
    ])
    func `A text that is not of its type is refused with its place`(
        type: String, text: String
    ) throws {
        let error = #expect(throws: ChannelFileError.self) {
            try channel(#"<property name="p" type="\#(type)" value="\#(text)"/>"#)
        }
        #expect(error?.line == 2)
        #expect(error?.isTooLarge == false)
        #expect(text.count < 2 || error?.message.contains(text) == false)
    }

    @Test func `Branches, arrays and repeated properties`() throws {
        let file = try channel(
            """
            <property name="general" type="empty">
              <property name="theme" type="string" value="Greybird">
                <property name="size" type="int" value="9"/>
              </property>
              text is ignored
              <property name="names" type="array">
                <value type="string" value="a"/><value type="uint" value="2"/>
              </property>
              <property name="none" type="array"/>
            </property>
            <property name="general" type="string" value="last"/>
            <property name="s p/x" type="int" value="1"/>
            <property name="empty" type="empty"/>
            """)
        let names = Value.array(of: "v", [.variant(.string("a")), .variant(.uint32(2))])
        #expect(
            values(file) == [
                "/general": .string("last"), "/general/theme": .string("Greybird"),
                "/general/theme/size": .int32(9), "/general/names": names,
                "/general/none": .array(of: "v", []), "/s p/x": .int32(1),
            ])
        #expect(!file.isLocked && file.properties.allSatisfy { !$0.isLocked })
    }

    @Test(arguments: [
        ("locked=\"ada\"", true), ("locked=\"bob;ada\"", true), ("locked=\"bob\"", false),
        ("locked=\"@staff\"", true), ("locked=\"@wheel;@audio\"", true),
        ("locked=\"@wheel\"", false), ("locked=\"staff\"", false), ("locked=\"*\"", false),
        ("locked=\"\"", false), ("unlocked=\"ada\"", false), ("unlocked=\"bob\"", true),
        ("unlocked=\"@staff\"", false), ("locked=\"ada\" unlocked=\"ada\"", false),
        ("locked=\"bob\" unlocked=\"bob\"", true),
    ])
    func `A lock is for those whom it names`(attributes: String, isLocked: Bool) throws {
        #expect(try channel("", attributes: attributes).isLocked == isLocked)
        let property = try channel(
            #"<property name="p" type="int" value="1" \#(attributes)/>"#
                + #"<property name="e" type="empty" \#(attributes)/>"#)
        #expect(property.properties.map(\.isLocked) == (isLocked ? [true, true] : [false]))
        #expect(!property.isLocked)
    }

    @Test(arguments: [
        "", "<channel", "<other/>", "<channel/>", #"<channel name="a"/>"#,
        #"<channel name="a" version="2.0"/>"#, #"<channel name="a" version="10"/>"#,
        #"<channel name="a" version="1.0" Locked="ada"/>"#,
        #"<channel name="a" version="1.0"><channel name="a" version="1.0"/></channel>"#,
        #"<channel name="a" version="1.0"><value type="int" value="1"/></channel>"#,
        #"<channel name="a" version="1.0"><property name="b"/></channel>"#,
        #"<channel name="a" version="1.0"><property name="" type="int" value="1"/></channel>"#,
        #"<channel name="a" version="1.0"><property name="b" type="int" value="1" x="1"/></channel>"#,
        #"<channel name="a" version="1.0"><property name="b" type="array">"#
            + #"<value type="array"/></property></channel>"#,
        #"<channel name="a" version="1.0"><property name="b" type="array"><value type="int" value="1">"#
            + #"<value type="int" value="1"/></value></property></channel>"#,
        #"<!DOCTYPE channel [<!ENTITY e "x">]><channel name="a" version="1.0"/>"#,
        #"<!DOCTYPE channel SYSTEM "x.dtd"><channel name="&e;" version="1.0"/>"#,
    ])
    func `What is not a channel is refused`(text: String) {
        #expect(throws: ChannelFileError.self) { try file(text) }
    }

    @Test func `Depth and number are bounded`() throws {
        let deep = String(repeating: #"<property name="aaa" type="empty">"#, count: 300)
        #expect(throws: ChannelFileError.self) { try channel(deep) }
        let many = String(repeating: #"<property name="a" type="int" value="1"/>"#, count: 1 << 16)
        let error = #expect(throws: ChannelFileError.self) { try channel(many) }
        #expect(error?.isTooLarge == true)
    }

    @Test func `A text with a lock is recognised`() {
        for (text, mayLock) in [
            ("locked", true), ("lolocked=", true), ("unlocked", true), ("lock ed", false),
            ("", false),
            ("locke", false), ("l\0o\0c\0k\0", true),
        ] {
            #expect(ChannelFile.mayLock(Array(text.utf8)) == mayLock, "\(text)")
        }
    }

    @Test func `No bytes trap`() {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><!DOCTYPE channel>
            <channel name="test" version="1.0" locked="ada;@staff">
            <property name="a" type="array"><value type="int" value="-0x10"/></property>
            <property name="b" type="double" value="1e5" unlocked="bob"/>&lt;<!-- x --><![CDATA[y]]>
            </channel>
            """
        var state: UInt64 = 88_172_645_463_325_252
        func next(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(limit))
        }
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array(text.utf8)
            for _ in 0...next(3) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(next(256))
                case 1: bytes.remove(at: next(bytes.count))
                default: bytes.insert(bytes[next(bytes.count)], at: next(bytes.count))
                }
            }
            accepted += (try? ChannelFile(bytes, for: Self.ada)) == nil ? 0 : 1
        }
        #expect(accepted > 0 && accepted < 20_000)
    }
}
