public import DefaultsModel
internal import SQLite

/// Some values of one domain in a backup: the next in the order of the keys' bytes.
public struct BackupPart: Sendable {
    /// The domain.
    public let domain: Domain
    /// The values; those that are damaged are left out.
    public private(set) var values: [ChangeProposal.Assignment] = []
    /// Whether the domain has no values after these.
    public internal(set) var isLast = false

    init(of domain: Domain) {
        self.domain = domain
    }

    /// Takes the row of `BackupReader` in which its statement stands, unless that is damaged.
    mutating func take(row: borrowing Statement) {
        guard let key = row.text(at: 3).flatMap({ try? Key($0) }),
            let generation = Generation(column: row.integer(at: 4)),
            let archive = row.blob(at: 7),
            UInt64(bitPattern: row.integer(at: 5))
                == RowChecksum.of(domain, key, generation, archive)
        else { return }
        values.append(.init(key: key, archive: archive))
    }
}
