package import DBus
import DefaultsTerms

/// Whole domains.
extension Contract {
    /// Lists the domains that have keys.
    package enum ListDomains: Call {
        package static let method = MethodDeclaration(
            "ListDomains", out: [Argument("domains", "as")])

        package typealias Reply = [String]
    }

    /// Lists the keys of a domain.
    package enum ListKeys: DomainCall {
        package static let method = MethodDeclaration(
            "ListKeys", in: [.domain], out: [Argument("keys", "as")])

        package typealias Reply = [String]
    }

    /// Removes every key of a domain in one change.
    package enum RemoveDomain: DomainCall {
        package static let method = MethodDeclaration(
            "RemoveDomain", in: [.domain], out: [.generation])

        package typealias Reply = UInt64
    }

    /// Reads a whole domain.
    package enum GetAll: DomainCall {
        package static let method = MethodDeclaration(
            "GetAll", in: [.domain], out: [Argument("entries", "a{say}"), .generation])

        package typealias Reply = (entries: [(String, [UInt8])], generation: UInt64)

        /// Writes the reply.
        ///
        /// - Parameter entries: Writes each entry with `writeArchive`.
        package static func writeReply(
            at generation: UInt64, to writer: inout MessageWriter,
            entries: (inout MessageWriter) throws -> Void
        ) throws {
            try writer.writeArchives(entries)
            try writer.writeUInt64(generation)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readArchives(), try reader.readUInt64())
        }
    }

    /// Reads a whole domain as D-Bus values.
    package enum GetAllValues: DomainCall {
        package static let method = MethodDeclaration(
            "GetAllValues", in: [.domain],
            out: [Argument("entries", "a{sv}"), Argument("unrepresentable", "as"), .generation])

        /// The nesting depth of a value in the reply: inside the array, its entry and the variant.
        package static let containers = 3

        package typealias Reply = (
            entries: [(String, Value)], unrepresentable: [String], generation: UInt64
        )

        /// Writes the reply.
        ///
        /// - Parameters:
        ///   - entries: Writes each entry with `writeVariant`.
        ///   - unrepresentable: Called after that: returns the keys that were left out.
        package static func writeReply(
            at generation: UInt64, to writer: inout MessageWriter,
            entries: (inout MessageWriter) throws -> Void, unrepresentable: () -> [String]
        ) throws {
            try writer.writeVariants(entries)
            try writer.writeStrings(unrepresentable())
            try writer.writeUInt64(generation)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            (try reader.readVariants(), try reader.readStrings(), try reader.readUInt64())
        }
    }

    /// Reads what has changed in a domain after a generation.
    package enum GetChanges: Call {
        package static let method = MethodDeclaration(
            "GetChanges", in: [.domain, Argument("since", "t")],
            out: [
                Argument("changed", "a{say}"), Argument("large", "as"), Argument("removed", "as"),
                .generation, Argument("complete", "b"),
            ])

        package typealias Arguments = (domain: String, since: UInt64)

        /// The changes as the caller gets them.
        package struct Reply: Sendable {
            /// The archives that were set, if the reply includes them.
            package let changed: [(String, [UInt8])]
            /// The keys that were set, but whose archives are too large for the reply.
            package let large: [String]
            /// The keys that were removed.
            package let removed: [String]
            /// The generation up to which the reply is complete.
            package let generation: UInt64
            /// Whether these are the changes.
            ///
            /// If not, they are the whole domain.
            package let isComplete: Bool
        }

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeUInt64(arguments.since)
        }

        /// Reads the arguments.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, since: UInt64) {
            (try names.domain(reader.readString()), try reader.readUInt64())
        }

        /// Writes the reply.
        ///
        /// - Parameters:
        ///   - changed: Writes each entry with `writeArchive`.
        ///   - large: Called after that: returns the keys that are only named.
        package static func writeReply(
            removed: some Sequence<String>, generation: UInt64, isComplete: Bool,
            to writer: inout MessageWriter,
            changed: (inout MessageWriter) throws -> Void, large: () -> [String]
        ) throws {
            try writer.writeArchives(changed)
            try writer.writeStrings(large())
            try writer.writeStrings(removed)
            try writer.writeUInt64(generation)
            try writer.writeBool(isComplete)
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            Reply(
                changed: try reader.readArchives(), large: try reader.readStrings(),
                removed: try reader.readStrings(), generation: try reader.readUInt64(),
                isComplete: try reader.readBool())
        }
    }

    /// Reads when keys were last changed.
    package enum GetTimes: Call {
        package static let method = MethodDeclaration(
            "GetTimes", in: [.domain, Argument("keys", "as")],
            out: [Argument("times", "a(stt)")])

        package typealias Arguments = (domain: String, keys: [String])
        /// The key, the generation of its last change or its removal, and the time in seconds since
        /// 1970; 0 if that is unknown.
        package typealias Row = (key: String, generation: UInt64, time: UInt64)
        package typealias Reply = [Row]

        package static func writeArguments(
            _ arguments: Arguments, to writer: inout MessageWriter
        ) throws {
            try writer.writeString(arguments.domain)
            try writer.writeStrings(arguments.keys)
        }

        /// Reads the arguments.
        ///
        /// The keys are counted before anything is made from them.
        package static func readArguments<Names: NameReading>(
            from reader: inout MessageReader, by names: Names
        ) throws -> (domain: Names.Domain, keys: [Names.Key]) {
            let domain = try names.domain(reader.readString())
            var count = 0
            let keys = try reader.readArray {
                count += 1
                guard count <= ContractLimits.maximumTransactionKeys else {
                    throw ContractError.tooManyKeysToRead
                }
                return try names.key($0.readString())
            }
            return (domain, keys)
        }

        package static func writeReply(
            _ times: some Sequence<Row>, to writer: inout MessageWriter
        ) throws {
            try writer.writeStructures(of: "(stt)", times) {
                try $0.writeString($1.key)
                try $0.writeUInt64($1.generation)
                try $0.writeUInt64($1.time)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            try reader.readStructures {
                (try $0.readString(), try $0.readUInt64(), try $0.readUInt64())
            }
        }
    }
}
