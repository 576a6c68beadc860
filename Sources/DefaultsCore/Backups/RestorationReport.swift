package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
import DefaultsTerms
import KeyedArchive
import Wording

/// What is to be restored, and how.
package struct Restoration {
    /// Which backup it is.
    package enum Source {
        /// The backup with this name.
        case backup(String)
        /// The file of a backup, which may come from another machine.
        case file(String)

        /// The name for messages.
        var name: String {
            switch self {
            case .backup(let name): name
            case .file(let path): path
            }
        }
    }

    let source: Source
    /// The writer on the bus.
    let origin: String
    /// The note of its changes for the history, which are one action.
    var note: ChangeNote?
    /// The domains to restore; empty for all.
    ///
    /// A domain without a host includes all its layers.
    package var domains: Set<Domain> = []
    /// Whether nothing is changed, and the changes are only reported.
    package var isDry = false

    /// Restores all domains of a backup.
    package init(source: Source, origin: String) {
        self.source = source
        self.origin = origin
    }

    /// Whether a domain is to be restored.
    func covers(_ domain: Domain) -> Bool {
        domains.isEmpty || domains.contains { Self.covers($0, domain) }
    }

    /// Whether a named domain includes another one.
    ///
    /// A domain includes itself and, if it has no host, its layers.
    static func covers(_ named: Domain, _ domain: Domain) -> Bool {
        named == domain || named.layer == .domain && named.name == domain.name
    }
}

/// What a restoration has done.
package struct RestorationReport: CustomStringConvertible {
    /// The changes in one domain.
    package struct Part {
        package let domain: Domain
        package var set: [Key] = []
        package var removed: [Key] = []
        /// How many keys were left as they are because they are locked.
        package var locked: UInt64 = 0

        /// The size of its names in a reply, in bytes.
        fileprivate var namesSize: Int {
            (set + removed).reduce(NamesSize.size(of: domain.name)) {
                $0 + NamesSize.size(of: $1.name)
            }
        }
    }

    /// The backup that can undo the restoration.
    package enum Undo {
        /// Nothing has changed yet, so there is nothing to undo.
        ///
        /// When that backup is made, `sparing`, which is being restored, must not be removed for
        /// it.
        case notNeeded(sparing: Backup?)
        case made(Backup)
        /// The database is damaged, so no backup can be made.
        ///
        /// This may be the reason for restoring.
        case impossible
    }

    /// The action that all its changes are, by the generation of the first one; nil before that.
    package var action: Generation?
    /// What would change, by domain, if the caller wants to know.
    package private(set) var parts: [Part] = []
    /// The size of the names in `parts` in a reply, in bytes.
    private var namesSize = 0
    var undoing = Undo.notNeeded(sparing: nil)
    /// The backup that can undo it; nil if nothing has changed or the database was damaged before.
    package var undo: Backup? {
        if case .made(let backup) = undoing { backup } else { nil }
    }
    /// How many keys have got another value.
    package var set: UInt64 = 0
    /// How many keys were removed.
    package var removed: UInt64 = 0
    /// How many values of the backup cannot be read.
    ///
    /// If there are any, no key is removed, because it is unknown which keys these values have.
    package var damaged: UInt64 = 0
    /// How many keys differ and were left as they are because the administrator has locked them.
    package var locked: UInt64 = 0

    /// Adds what would change in a domain, or in a part of it.
    ///
    /// - Throws: `ContractError` if a reply cannot hold all names. They are counted here because a
    ///   database may have more names than fit into memory.
    mutating func note(_ part: Part) throws(ContractError) {
        namesSize += part.namesSize
        guard namesSize <= ContractLimits.maximumReplySize else { throw .tooManyRestored }
        set += UInt64(part.set.count)
        removed += UInt64(part.removed.count)
        locked += part.locked
        guard !part.set.isEmpty || !part.removed.isEmpty || part.locked > 0 else { return }
        guard let last = parts.last, last.domain == part.domain else { return parts.append(part) }
        parts[parts.count - 1].set += part.set
        parts[parts.count - 1].removed += part.removed
        parts[parts.count - 1].locked += part.locked
    }

    /// The counts in a few words.
    package var description: String {
        let damaged = damaged == 0 ? "" : ", \(damaged) damaged in the backup"
        let locked = locked == 0 ? "" : ", \(locked) locked"
        return "\(counted(set, "key")) set, \(removed) removed\(damaged)\(locked)"
            + (undo.map { "; '\($0.name)' undoes that" } ?? "")
    }
}

/// The changes that make a domain equal to the one in a backup, found in one pass over both.
struct DomainDifference {
    /// How many keys are changed at once: more would keep other callers waiting.
    private static let keysAtOnce = 4096
    private static let bytesAtOnce = 8 << 20

    let domain: Domain
    /// The keys that have not been compared yet, in the order of their bytes.
    private var keys: ArraySlice<Key>
    private var changed: [ChangeProposal.Assignment] = []
    private var removed: [Key] = []
    private var bytes = 0

    /// - Parameter keys: The keys that the domain has, in the order of their bytes. Those that the
    ///   backup does not have are removed.
    init(of domain: Domain, removing keys: [Key]) {
        self.domain = domain
        self.keys = keys[...]
    }

    /// Whether there is enough to change for one change.
    var isLarge: Bool {
        changed.count + removed.count >= Self.keysAtOnce || bytes >= Self.bytesAtOnce
    }

    /// Compares with the next part of the backup.
    ///
    /// - Parameter differs: Whether a key has no value or another value than this one.
    /// - Returns: How many values of the backup are not valid archives. Their keys stay as they
    ///   are.
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

    /// Returns the changes that have been found, and forgets them.
    mutating func takeChange(by origin: String) -> ChangeProposal {
        defer { (changed, removed, bytes) = ([], [], 0) }
        return ChangeProposal(domain: domain, set: changed, removed: removed, origin: origin)
    }

    /// Removes keys that the backup does not have, up to the last key of this part.
    private mutating func removeKeys(missingIn part: BackupPart) {
        let kept = Set(part.values.map(\.key))
        while let key = keys.first, part.isLast || part.values.last.map({ key <= $0.key }) ?? false
        {
            keys = keys.dropFirst()
            if !kept.contains(key) { removed.append(key) }
        }
    }
}
