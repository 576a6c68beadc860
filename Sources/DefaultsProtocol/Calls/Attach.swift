package import DBus
import DefaultsTerms
package import SystemCalls

/// For clients that read from their own memory, without calls.
extension Contract {
    /// Opens the page of counters and reads whole domains, for a client that reads without calls.
    package enum Attach: Call {
        package static let method = MethodDeclaration(
            "Attach", in: [Argument("domains", "as")],
            out: [
                Argument("page", "h"), Argument("domains", "a(sua{say}asas)"), .generation,
            ])

        package typealias Arguments = [String]

        /// A domain in the reply.
        package struct Domain: Sendable {
            /// The domain as the caller spelled it.
            package let spelling: String
            /// The word of the page that counts its changes.
            package let slot: UInt32
            /// The archives that the reply includes.
            package let entries: [(String, [UInt8])]
            /// The keys whose archives are too large for the reply.
            package let large: [String]
            /// The locked keys.
            ///
            /// A trailing `*` means a prefix.
            package let locked: [String]
        }

        /// What the reply returns.
        ///
        /// The caller must close the page.
        package typealias Reply = (page: FileDescriptor, domains: [Domain], generation: UInt64)

        package static func writeArguments(
            _ domains: [String], to writer: inout MessageWriter
        ) throws {
            try writer.writeStrings(domains)
        }

        /// Reads the arguments.
        ///
        /// The domains are counted before anything is made from them.
        ///
        /// - Parameter domain: Converts each domain.
        package static func readArguments<Attached>(
            from reader: inout MessageReader, _ domain: (String) throws -> Attached
        ) throws -> [Attached] {
            var count = 0
            return try reader.readArray {
                count += 1
                guard count <= ContractLimits.maximumAttachedDomains else {
                    throw ContractError.tooManyDomains
                }
                return try domain($0.readString())
            }
        }

        /// Writes the reply.
        ///
        /// - Parameters:
        ///   - page: The page; the message carries a duplicate.
        ///   - domains: Writes each domain with ``writeDomain(_:slot:locked:to:entries:large:)``.
        package static func writeReply(
            _ page: FileDescriptor, at generation: UInt64, to writer: inout MessageWriter,
            domains: (inout MessageWriter) throws -> Void
        ) throws {
            try writer.writeUnixFD(page)
            try writer.writeArray(of: "(sua{say}asas)", domains)
            try writer.writeUInt64(generation)
        }

        /// Writes one domain of the reply.
        ///
        /// - Parameters:
        ///   - entries: Writes the entries of the domain.
        ///   - large: Called after that: returns the keys that are only named.
        package static func writeDomain(
            _ spelling: String, slot: UInt32, locked: [String], to writer: inout MessageWriter,
            entries: (inout MessageWriter) throws -> Void, large: () -> [String]
        ) throws {
            try writer.writeStructure {
                try $0.writeString(spelling)
                try $0.writeUInt32(slot)
                try $0.writeArchives(entries)
                try $0.writeStrings(large())
                try $0.writeStrings(locked)
            }
        }

        package static func readReply(from reader: inout MessageReader) throws -> Reply {
            let page = try reader.readUnixFD()
            let domains = try reader.readStructures {
                Domain(
                    spelling: try $0.readString(), slot: try $0.readUInt32(),
                    entries: try $0.readArchives(), large: try $0.readStrings(),
                    locked: try $0.readStrings())
            }
            return (page, domains, try reader.readUInt64())
        }
    }
}
