import DefaultsModel
import DefaultsStorage
import KeyedArchive

/// What is to be changed in a domain for it to be as in a backup, found out in one pass over both.
struct DomainDifference {
    /// How much is changed at once: more keeps others waiting.
    private static let keysAtOnce = 4096
    private static let bytesAtOnce = 8 << 20

    let domain: Domain
    /// The keys that were not looked for yet, in the order of their bytes.
    private var keys: ArraySlice<Key>
    private var changed: [ChangeProposal.Assignment] = []
    private var removed: [Key] = []
    private var bytes = 0

    /// - Parameter keys: The keys that are removed where the backup does not have them, in the order
    ///   of their bytes.
    init(of domain: Domain, removing keys: [Key]) {
        self.domain = domain
        self.keys = keys[...]
    }

    /// Whether there is enough to change for a change of its own.
    var isLarge: Bool {
        changed.count + removed.count >= Self.keysAtOnce || bytes >= Self.bytesAtOnce
    }

    /// Compares with the next part of the backup.
    ///
    /// - Parameter differs: Whether a key has another value than this, or none.
    /// - Returns: How many values are no archives that can be stored; their keys stay as they are.
    mutating func take(
        _ part: BackupPart, differs: (Key, KeyedArchive) throws -> Bool
    ) throws -> UInt64 {
        removeKeys(missingIn: part)
        var refused: UInt64 = 0
        for value in part.values {
            guard let archive = try? KeyedArchive(validating: value.archive) else {
                refused += 1
                continue
            }
            guard try differs(value.key, archive) else { continue }
            changed.append(value)
            bytes += value.archive.count
        }
        return refused
    }

    /// Takes what is to be changed; nothing is left.
    mutating func takeChange(by origin: String) -> ChangeProposal {
        defer { (changed, removed, bytes) = ([], [], 0) }
        return ChangeProposal(domain: domain, set: changed, removed: removed, origin: origin)
    }

    /// Removes the keys of now that the backup does not have, as far as the part reaches.
    private mutating func removeKeys(missingIn part: BackupPart) {
        let kept = Set(part.values.map(\.key))
        while let key = keys.first, part.isLast || part.values.last.map({ key <= $0.key }) ?? false
        {
            keys = keys.dropFirst()
            if !kept.contains(key) { removed.append(key) }
        }
    }
}
