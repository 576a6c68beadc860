package import DBus
import DefaultsTerms
package import SystemCalls

/// For clients that read from their own memory, without calls.
extension Contract {
    /// Opens the page of counters and reads whole domains, for a client that reads without calls.
    package enum Attach: ArchiveAttachCall {
        package typealias Reply = AttachReply<[UInt8]>

        package static let method = attachMethod("Attach")
    }

    /// The same call with D-Bus values.
    package enum AttachValues: ValueAttachCall {
        package typealias Reply = AttachReply<Value>

        package static let method = attachMethod("AttachValues")
    }

    static let domainsArgument = Argument("domains", "as")
}

/// A domain in the reply of a call that attaches domains.
package struct AttachedDomain<Content: Sendable>: Sendable {
    /// The domain as the caller spelled it.
    package let spelling: String
    /// The word of the page that counts its changes.
    package let slot: UInt32
    /// The values that the reply includes.
    package let entries: [(String, Content)]
    /// The keys whose values the reply does not include: they are too large, or they have no D-Bus
    /// value.
    package let large: [String]
    /// The locked keys.
    ///
    /// A trailing `*` means a prefix.
    package let locked: [String]
}

/// What such a call returns.
///
/// The caller must close the page.
package typealias AttachReply<Content: Sendable> = (
    page: FileDescriptor, domains: [AttachedDomain<Content>], generation: UInt64
)

/// `Attach`, `Follow`, and both with D-Bus values.
package protocol AttachCall: Call where Arguments == [String], Reply == AttachReply<Content> {
    /// What the reply has for a key.
    associatedtype Content: Sendable

    /// The type of a domain in the reply.
    static var domainType: String { get }

    /// Writes the dictionary of the entries, which the closure writes.
    static func writeEntries(
        to writer: inout MessageWriter, _ entries: (inout MessageWriter) throws -> Void
    ) throws

    /// Reads the dictionary of the entries.
    static func readEntries(from reader: inout MessageReader) throws -> [(String, Content)]
}

extension AttachCall {
    static func attachMethod(_ name: MemberName) -> MethodDeclaration {
        MethodDeclaration(
            name, in: [Contract.domainsArgument],
            out: [
                Argument("page", "h"),
                Argument("domains", Signature(stringLiteral: "a" + domainType)), .generation,
            ])
    }

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
        try writer.writeArray(of: Signature(stringLiteral: domainType), domains)
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
            try writeEntries(to: &$0, entries)
            try $0.writeStrings(large())
            try $0.writeStrings(locked)
        }
    }

    package static func readReply(from reader: inout MessageReader) throws -> Reply {
        let page = try reader.readUnixFD()
        let domains = try reader.readStructures {
            AttachedDomain(
                spelling: try $0.readString(), slot: try $0.readUInt32(),
                entries: try readEntries(from: &$0), large: try $0.readStrings(),
                locked: try $0.readStrings())
        }
        return (page, domains, try reader.readUInt64())
    }
}

/// `Attach` and `Follow`.
package protocol ArchiveAttachCall: AttachCall
where Content == [UInt8] {}

extension ArchiveAttachCall {
    package static var domainType: String { "(sua{say}asas)" }

    package static func writeEntries(
        to writer: inout MessageWriter, _ entries: (inout MessageWriter) throws -> Void
    ) throws {
        try writer.writeArchives(entries)
    }

    package static func readEntries(
        from reader: inout MessageReader
    ) throws -> [(String, [UInt8])] {
        try reader.readArchives()
    }
}

/// `AttachValues` and `FollowValues`.
package protocol ValueAttachCall: AttachCall
where Content == Value {}

extension ValueAttachCall {
    package static var domainType: String { "(sua{sv}asas)" }

    /// The nesting depth of a value in the reply: inside the two arrays, the structure, the entry and
    /// the variant.
    package static var containers: Int { 5 }

    package static func writeEntries(
        to writer: inout MessageWriter, _ entries: (inout MessageWriter) throws -> Void
    ) throws {
        try writer.writeVariants(entries)
    }

    package static func readEntries(
        from reader: inout MessageReader
    ) throws -> [(String, Value)] {
        try reader.readVariants()
    }
}
