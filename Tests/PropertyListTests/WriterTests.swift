import Foundation
import PropertyList
import TestSupport
import TestTiers
import Testing

@Suite("Writing a property list", .startsPrograms)
struct WriterTests {
    @Test("gives bytes that Python reads as the same values")
    func python() throws {
        var writer = PropertyListWriter()
        var elements: [ObjectIndex] = []
        let integers: [Int128] = [
            0, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, Int128(Int64.max), -1,
            Int128(Int64.min), Int128(UInt64.max), Int128.max, Int128.min,
        ]
        for integer in integers { elements.append(writer.add(integer: integer)) }
        elements.append(writer.add(boolean: true))
        elements.append(writer.add(boolean: false))
        elements.append(writer.add(real: 0.1))
        elements.append(writer.add(string: "abc"))
        elements.append(writer.add(string: "\u{E9}\u{1F600}"))
        elements.append(writer.add(string: Text(String(repeating: "x", count: 300))))
        elements.append(writer.add(data: [1, 2, 3]))
        elements.append(writer.add(date: 86_400))
        elements.append(writer.add(uid: 70_000))
        elements.append(writer.add(array: []))
        elements.append(writer.add(keys: [writer.add(string: "k")], values: [elements[0]]))
        let root = writer.add(array: elements)
        let bytes = writer.finish(root: root)
        let expected = """
            [0, 255, 256, 65535, 65536, 4294967295, 4294967296, 9223372036854775807, -1, \
            -9223372036854775808, 18446744073709551615, \
            170141183460469231731687303715884105727, -170141183460469231731687303715884105728, \
            True, False, 0.1, 'abc', '\u{E9}\u{1F600}', '\(String(repeating: "x", count: 300))', \
            b'\\x01\\x02\\x03', datetime.datetime(2001, 1, 2, 0, 0), UID(70000), [], {'k': 0}]

            """
        #expect(try Self.plistlib(bytes) == expected)
        #expect(throws: Never.self) { try PropertyList(bytes) }
    }

    @Test("writes equal scalars once, but numbers of different types separately")
    func uniquing() {
        var writer = PropertyListWriter()
        #expect(writer.add(string: "a") == writer.add(string: Text(utf16: [0x61])))
        #expect(writer.add(integer: 1) == writer.add(integer: 1))
        #expect(writer.add(integer: 1) != writer.add(real: 1))
        #expect(writer.add(integer: 1) != writer.add(boolean: true))
        #expect(writer.add(real: 1) != writer.add(date: 1))
        #expect(writer.add(real: 0) != writer.add(real: -0.0))
        #expect(writer.add(array: []) != writer.add(array: []))
    }

    @Test(
        "puts the root first and uses the smallest widths",
        arguments: [3, 254, 255, 70_000])
    func widths(count: Int) throws {
        var writer = PropertyListWriter()
        let elements = (0..<count).map { writer.add(integer: Int128($0)) }
        let root = writer.add(array: elements)
        let bytes = writer.finish(root: root)
        let list = try PropertyList(bytes)
        #expect(list.root.position == 0)
        guard case .array(let references) = list.value(at: list.root) else {
            Issue.record("This is not an array.")
            return
        }
        let values = list.elements(of: references).map(list.value)
        #expect(values == (0..<count).map { .integer(Int128($0)) })
        #expect(bytes[bytes.count - 25] == (count < 255 ? 1 : count < 65_535 ? 2 : 4))
    }

    /// What Python's plistlib reads, as Python shows it.
    static func plistlib(_ bytes: [UInt8]) throws -> String {
        let program = """
            import plistlib, sys
            list = plistlib.load(sys.stdin.buffer)
            sys.stdout.buffer.write(f"{list}\\n".encode())
            """
        return String(decoding: try Python.run(program, input: bytes), as: UTF8.self)
    }
}
