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
            let (changed, unread) = try reader.readValidArchives()
            return DomainDifference(
                changed: changed, large: try reader.readStrings() + unread,
                removed: try reader.readStrings(), generation: try reader.readUInt64(),
                isComplete: try reader.readBool())
        }
    }

    /// The whole domain as the difference from nothing, in one reply where it fits.
    ///
    /// Values that are damaged are left out then.
    public func wholeDifference(of domain: String) async throws -> DomainDifference {
        do {
            return try await call(Contract.getAll, timeout: .seconds(300)) {
                try $0.writeString(domain)
            } read: { reader in
                let (changed, unread) = try reader.readValidArchives()
                return DomainDifference(
                    changed: changed, large: unread, removed: [],
                    generation: try reader.readUInt64(), isComplete: false)
            }
        } catch let error as DefaultsError where error.code == .tooLarge {
            return try await difference(of: domain, since: 0)
        }
    }
}

extension MessageReader {
    /// Reads an `a{say}`; a value that is refused costs no other: its key is told apart, and who reads
    /// it alone is told why.
    fileprivate mutating func readValidArchives() throws -> ([String: KeyedArchive], [String]) {
        var (archives, refused): ([String: KeyedArchive], [String]) = ([:], [])
        for (key, bytes) in try readDictionary({ (try $0.readString(), try $0.readBytes()) }) {
            if let archive = try? KeyedArchive(validating: bytes) {
                archives[key] = archive
            } else {
                refused.append(key)
            }
        }
        return (archives, refused)
    }
}
