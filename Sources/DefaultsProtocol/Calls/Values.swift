package import DBus
import DefaultsTerms
package import KeyedArchive

/// Single values.
extension Contract {
    /// Reads one value as it is stored: an archive, with the generation of its last change.
    package enum Get: KeyCall {
        package static let method = MethodDeclaration(
            "Get", in: [.domain, .key], out: [.archive, .generation])

        package typealias Reply = (archive: [UInt8], generation: UInt64)

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeBytes(reply.archive)
            try writer.writeUInt64(reply.generation)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readBytes(), try reader.readUInt64())
        }
    }

    /// Stores an archive.
    package enum Set: Call {
        package static let method = MethodDeclaration(
            "Set", in: [.domain, .key, .archive], out: [.generation])

        package typealias Arguments = (domain: String, key: String, archive: [UInt8])
        package typealias Reply = UInt64

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeString(arguments.key)
            try writer.writeBytes(arguments.archive)
        }

        /// Reads the arguments.
        ///
        /// - Throws: An error for an invalid name, or ``ContractError`` with code `tooLarge` if the
        ///   archive is above the size limit.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, key: Names.Key, archive: [UInt8]) {
            (
                try names.domain(reader.readString()), try names.key(reader.readString()),
                try reader.readStorableArchive()
            )
        }
    }

    /// Removes a key.
    ///
    /// Removing a missing key changes nothing.
    package enum Remove: KeyCall {
        package static let method = MethodDeclaration(
            "Remove", in: [.domain, .key], out: [.generation])

        package typealias Reply = UInt64
    }

    /// Gives a key another name.
    package enum Rename: Call {
        package static let method = MethodDeclaration(
            "Rename", in: [.domain, Argument("old_key", "s"), Argument("new_key", "s")],
            out: [.generation])

        package typealias Arguments = (domain: String, old: String, new: String)
        package typealias Reply = UInt64

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeString(arguments.old)
            try writer.writeString(arguments.new)
        }

        /// Reads the arguments.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, old: Names.Key, new: Names.Key) {
            (
                try names.domain(reader.readString()), try names.key(reader.readString()),
                try names.key(reader.readString())
            )
        }
    }

    /// Reads one value as a D-Bus value.
    package enum GetValue: KeyCall {
        package static let method = MethodDeclaration(
            "GetValue", in: [.domain, .key], out: [.value, .generation])

        package typealias Reply = (value: Value, generation: UInt64)

        package static func writeReply(_ reply: Reply, to writer: inout MessageWriter) throws {
            try writer.writeValue(.variant(reply.value))
            try writer.writeUInt64(reply.generation)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readVariant { try $0.readValue() }, try reader.readUInt64())
        }
    }

    /// Stores a D-Bus value.
    package enum SetValue: Call {
        package static let method = MethodDeclaration(
            "SetValue", in: [.domain, .key, .value], out: [.generation])

        package typealias Arguments = (domain: String, key: String, value: Value)
        package typealias Reply = UInt64

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeString(arguments.key)
            try writer.writeValue(.variant(arguments.value))
        }

        /// Reads the arguments, and makes an archive from the value.
        ///
        /// - Throws: An error for an invalid name, and the errors of
        ///   ``VariantForm/readArchive(from:remaining:)``.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, key: Names.Key, archive: KeyedArchive) {
            let domain = try names.domain(reader.readString())
            let key = try names.key(reader.readString())
            var remaining = ContractLimits.maximumValueCount
            let archive = try VariantForm.readArchive(from: &reader, remaining: &remaining)
            try ContractError.checkSize(of: archive)
            return (domain, key, archive)
        }
    }
}
