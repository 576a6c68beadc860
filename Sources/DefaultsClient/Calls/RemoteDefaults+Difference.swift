import DBus
import DefaultsProtocol

/// What has changed in a domain after a generation.
public struct DomainDifference: Sendable {
    /// The archives that were set since and are small enough to be sent at once, as bytes that
    /// nobody has looked at.
    public let changed: [String: [UInt8]]
    /// The keys that were set since, too, and whose archives are to be read one by one.
    public let large: [String]
    /// The keys that were removed since.
    public let removed: [String]
    /// The generation up to which this tells everything.
    public let generation: UInt64
    /// Whether that is the difference; otherwise `changed` and `large` are the whole domain.
    public let isComplete: Bool
}

extension RemoteDefaults {
    /// What has changed in a domain after a generation; after 0 it is the whole domain.
    public func difference(
        of domain: String, since generation: UInt64
    ) async throws -> DomainDifference {
        try await call(Contract.getChanges, timeout: Self.patience) {
            try $0.writeString(domain)
            try $0.writeUInt64(generation)
        } read: { reader in
            DomainDifference(
                changed: try reader.readEntries(), large: try reader.readStrings(),
                removed: try reader.readStrings(), generation: try reader.readUInt64(),
                isComplete: try reader.readBool())
        }
    }

    /// The whole domain as the difference from nothing, in one reply where it fits.
    ///
    /// Values that are damaged are left out then.
    public func wholeDifference(of domain: String) async throws -> DomainDifference {
        do {
            return try await call(Contract.getAll, timeout: Self.patience) {
                try $0.writeString(domain)
            } read: { reader in
                DomainDifference(
                    changed: try reader.readEntries(), large: [], removed: [],
                    generation: try reader.readUInt64(), isComplete: false)
            }
        } catch let error as DefaultsError where error.code == .tooLarge {
            return try await difference(of: domain, since: 0)
        }
    }

    /// As long as a large domain, and a daemon that others keep busy, may take.
    private static var patience: Duration { .seconds(300) }
}

extension MessageReader {
    /// Reads an `a{say}`.
    fileprivate mutating func readEntries() throws -> [String: [UInt8]] {
        let entries = try readDictionary { (try $0.readString(), try $0.readBytes()) }
        return Dictionary(entries) { first, _ in first }
    }
}
