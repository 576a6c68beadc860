public import DefaultsModel
internal import SQLite

/// Some values of one domain in a backup: the next in the order of the keys' bytes.
public struct BackupPart: Sendable {
    /// The domain.
    public let domain: Domain
    /// The values.
    public private(set) var values: [ChangeProposal.Assignment] = []
    /// Keys that have a value in the backup which is damaged.
    public private(set) var damaged: Set<Key> = []
    /// The last of the values' keys, up to which the domain has no others; nil where there is none.
    public private(set) var lastKey: Key?
    /// Whether the domain has no values after these.
    public internal(set) var isLast = false

    init(of domain: Domain) {
        self.domain = domain
    }

    /// Takes the row of `BackupReader` in which its statement stands.
    mutating func take(row: borrowing Statement) {
        // Text that is no key was not written by this program.
        guard let key = row.text(at: 3).flatMap({ try? Key($0) }) else { return }
        guard let generation = Generation(column: row.integer(at: 4)),
            let archive = row.blob(at: 7),
            UInt64(bitPattern: row.integer(at: 5))
                == RowChecksum.of(domain, key, generation, archive)
        else {
            damaged.insert(key)
            return
        }
        values.append(.init(key: key, archive: archive))
        lastKey = key
    }
}
