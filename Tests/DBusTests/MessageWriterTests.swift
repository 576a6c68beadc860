import TestTiers
import Testing

@testable import DBus

/// Everything here would end the process if libdbus got it.
@Suite(.startsPrograms) struct MessageWriterTests {
    private static func write(
        _ body: (inout MessageWriter) throws -> Void
    ) throws -> Signature {
        let message = try Message.unaddressed(.signal)
        return try MessageWriter.write(to: message, body).signature
    }

    @Test func `A NUL character is refused in a string`() {
        #expect(throws: DBusError.nulInString) { try Self.write { try $0.writeString("a\0b") } }
    }

    static let misfits: [(String, @Sendable (inout MessageWriter) throws -> Void)] = [
        ("another element", { try $0.writeArray(of: "s") { try $0.writeInt32(1) } }),
        (
            "an array of entries without one",
            { try $0.writeDictionary(key: "s", value: "v") { try $0.writeString("a") } }
        ),
        ("an entry outside of an array", { try $0.writeEntry { try $0.writeString("a") } }),
        (
            "an entry without a value",
            {
                try $0.writeDictionary(key: "s", value: "v") {
                    try $0.writeEntry { try $0.writeString("a") }
                }
            }
        ),
        (
            "an entry with two values",
            {
                try $0.writeDictionary(key: "y", value: "y") {
                    try $0.writeEntry { for _ in 0..<3 { try $0.writeByte(1) } }
                }
            }
        ),
        ("a key that is a container", { try $0.writeDictionary(key: "v", value: "v") { _ in } }),
        ("an empty variant", { try $0.writeVariant(of: "s") { _ in } }),
        ("a variant of another type", { try $0.writeVariant(of: "s") { try $0.writeByte(1) } }),
        (
            "a variant of two values",
            { try $0.writeVariant(of: "y") { for _ in 0..<2 { try $0.writeByte(1) } } }
        ),
        ("a variant of two types", { try $0.writeVariant(of: "ys") { _ in } }),
        ("a variant of no type", { try $0.writeVariant(of: "") { _ in } }),
        ("an array of two types", { try $0.writeArray(of: "ys") { _ in } }),
        ("an empty structure", { try $0.writeStructure { _ in } }),
        (
            "half an element",
            { try $0.writeArray(of: "(ys)") { try $0.writeStructure { try $0.writeByte(1) } } }
        ),
        ("bytes among numbers", { try $0.writeArray(of: "u") { try $0.writeBytes([1]) } }),
    ]

    @Test(arguments: misfits)
    func `A value that does not fit the types is an error`(
        _ name: String, _ body: @Sendable (inout MessageWriter) throws -> Void
    ) throws {
        let error = #expect(throws: DBusError.self, "\(name)") { try Self.write(body) }
        #expect(try #require(error).name == .invalidSignature)
    }

    @Test func `A failed message is not sent, even if the error was caught`() {
        #expect(throws: DBusError.nulInString) {
            try Self.write { writer in
                try? writer.writeArray(of: "s") { try $0.writeString("\0") }
                try? writer.writeByte(1)
            }
        }
        struct Mine: Error {}
        #expect(throws: DBusError.spoiled) {
            try Self.write { try? $0.writeStructure { _ in throw Mine() } }
        }
        #expect(throws: Mine.self) {
            try Self.write { try $0.writeStructure { _ in throw Mine() } }
        }
    }

    @Test func `Structures that nest deeper than a signature may are an error`() {
        func nest(_ writer: inout MessageWriter, _ depth: Int) throws {
            if depth == 0 { return try writer.writeByte(1) }
            try writer.writeStructure { try nest(&$0, depth - 1) }
        }
        #expect(throws: Never.self) { try Self.write { try nest(&$0, 32) } }
        #expect(throws: DBusError.self) { try Self.write { try nest(&$0, 33) } }
    }

    @Test func `A value of any depth is written or refused, and its type told or refused`() throws {
        var structure = Value.byte(1)
        var variant = Value.byte(1)
        for _ in 0..<2_000 {
            structure = .structure([structure])
            variant = .variant(variant)
        }
        #expect(throws: DBusError.self) { try structure.type }
        #expect(throws: DBusError.self) { try Self.write { try $0.writeValue(structure) } }
        #expect(throws: DBusError.nestedTooDeeply) { try Self.write { try $0.writeValue(variant) } }
        let shallow = variant
        #expect(try shallow.type == "v")
    }

    @Test func `A value that does not have the type of its array is refused`() {
        #expect(throws: DBusError.self) {
            try Self.write { try $0.writeValue(.array(of: "s", [.string("a"), .int32(1)])) }
        }
    }

    @Test func `The signature is that of what was written`() throws {
        let signature = try Self.write { writer in
            try writer.writeDictionary(key: "s", value: "v") { _ in }
            try writer.writeStructure { writer in
                try writer.writeByte(1)
                try writer.writeBytes([])
            }
            try writer.writeArray(of: "(sa{sv})") { _ in }
        }
        #expect(signature == "a{sv}(yay)a(sa{sv})")
    }
}
