import TestTiers
import Testing

@testable import DBus

@Suite(.startsPrograms) struct MessageReaderTests {
    /// Has a closure read what another one wrote.
    private static func read<Result>(
        _ write: (inout MessageWriter) throws -> Void,
        _ read: (inout MessageReader) throws -> Result
    ) throws -> Result {
        let message = try Message.unaddressed(.signal)
        try MessageWriter.write(to: message, write)
        var reader = MessageReader(message)
        return try read(&reader)
    }

    @Test func `Reading a wrong type is an error, and leaves the value in place`() throws {
        let text = try Self.read {
            try $0.writeString("text")
        } _: { reader in
            #expect(throws: DBusError.unexpectedType(.string, expected: .uint32)) {
                try reader.readUInt32()
            }
            #expect(throws: DBusError.self) { try reader.readArray { try $0.readByte() } }
            #expect(throws: DBusError.self) { try reader.readBytes() }
            #expect(throws: DBusError.self) { try reader.readVariant { _ in } }
            #expect(throws: DBusError.self) { try reader.readStructure { _ in } }
            let elementType = reader.nextElementType
            #expect(elementType == nil)
            return try reader.readString()
        }
        #expect(text == "text")
    }

    @Test func `Reading past the end is an error`() throws {
        try Self.read { _ in
        } _: { reader in
            let (isAtEnd, signature) = (reader.isAtEnd, reader.nextSignature)
            #expect(isAtEnd && signature == nil)
            #expect(throws: DBusError.unexpectedType(nil, expected: .string)) {
                try reader.readString()
            }
            #expect(throws: DBusError.noValue) { try reader.readValue() }
        }
    }

    @Test func `A field that is not read is an error`() {
        #expect(throws: DBusError.valuesLeft(.byte)) {
            try Self.read { writer in
                try writer.writeStructure { for byte in UInt8(1)...2 { try $0.writeByte(byte) } }
            } _: {
                try $0.readStructure { try $0.readByte() }
            }
        }
    }

    @Test func `Bytes are not read as numbers, nor numbers as bytes`() throws {
        try Self.read {
            try $0.writeArray(of: "u") { _ in }
        } _: { reader in
            #expect(throws: DBusError.unexpectedType(.uint32, expected: .byte)) {
                try reader.readBytes()
            }
            #expect(throws: DBusError.unexpectedType(.uint32, expected: .dictionaryEntry)) {
                try reader.readDictionary { _ in (1, 1) }
            }
        }
    }

    @Test(arguments: [0, 1, 2, 1000])
    func `Bytes are read in one step, even if there are none`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let lent = try Self.read {
            try $0.writeBytes(bytes)
        } _: { reader in
            (try reader.withBytes { $0.count }, reader.isAtEnd)
        }
        #expect(lent == (count, true))
        let copied = try Self.read {
            try $0.writeBytes(bytes)
        } _: {
            try $0.readBytes()
        }
        #expect(copied == bytes)
        let single = try Self.read {
            try $0.writeBytes(bytes)
        } _: { reader in
            try reader.readArray { try $0.readByte() }
        }
        #expect(single == bytes)
    }

    @Test func `The whole type of the next value is known`() throws {
        try Self.read { writer in
            try writer.writeVariant(of: "a{s(ib)}") {
                try $0.writeDictionary(key: "s", value: "(ib)") { _ in }
            }
        } _: { reader in
            let outside = reader.nextSignature
            #expect(outside == "v")
            try reader.readVariant { inner in
                let inside = inner.nextSignature
                #expect(inside == "a{s(ib)}")
                _ = try inner.readValue()
            }
        }
    }
}
