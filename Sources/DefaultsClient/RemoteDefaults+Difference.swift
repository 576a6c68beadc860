import DBus
import DefaultsProtocol
public import KeyedArchive

/// What has changed in a domain after a generation.
public struct DomainDifference: Sendable {
    /// The archives that were set since and are small enough to be sent at once.
    public let changed: [String: KeyedArchive]
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
        try await call(Contract.getChanges) {
            try $0.writeString(domain)
            try $0.writeUInt64(generation)
        } read: { reader in
            var changed: [String: KeyedArchive] = [:]
            var unread: [String] = []
            for (key, bytes) in try reader.readDictionary({
                (try $0.readString(), try $0.readBytes())
            }) {
                // One that is refused costs no other; who reads it alone is told why.
                let archive = try? KeyedArchive(validating: bytes)
                if let archive { changed[key] = archive } else { unread.append(key) }
            }
            return DomainDifference(
                changed: changed, large: try reader.readStrings() + unread,
                removed: try reader.readStrings(), generation: try reader.readUInt64(),
                isComplete: try reader.readBool())
        }
    }
}
