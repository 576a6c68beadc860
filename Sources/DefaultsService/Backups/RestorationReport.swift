import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import KeyedArchive

/// What is to be restored, and how.
struct Restoration {
    /// Where the values are.
    enum Source {
        /// In the backup of that name.
        case backup(String)
        /// In the file of a backup that may be of another machine.
        case file(String)

        /// As messages name it.
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
    /// The domains that are restored, those without a host in all their layers; empty for all.
    var domains: Set<Domain> = []
    /// Whether nothing is changed, and only the changes are reported.
    var isDry = false

    /// Whether a domain is restored.
    func covers(_ domain: Domain) -> Bool {
        domains.isEmpty || domains.contains { Self.covers($0, domain) }
    }

    /// Whether a named domain includes another: itself and, if it has no host, its layers.
    static func covers(_ named: Domain, _ domain: Domain) -> Bool {
        named == domain || named.layer == .domain && named.name == domain.name
    }
}

/// What a restoration has done.
struct RestorationReport: CustomStringConvertible {
    /// What has changed in one domain.
    struct Part {
        let domain: Domain
        var set: [Key] = []
        var removed: [Key] = []
        /// How many keys were left as they are, as they are locked.
        var locked: UInt64 = 0

        /// What its names take in a reply, in bytes.
        fileprivate var namesSize: Int {
            (set + removed).reduce(NamesSize.size(of: domain.name)) {
                $0 + NamesSize.size(of: $1.name)
            }
        }
    }

    /// The backup that undoes it.
    enum Undo {
        /// Nothing has changed yet, so there is nothing to undo.
        ///
        /// A new backup must not take the place of `sparing`, which is being restored.
        case notNeeded(sparing: Backup?)
        case made(Backup)
        /// The database is damaged, which may be why somebody restores.
        case impossible
    }

    /// What would change, by domain, if that was asked for.
    private(set) var parts: [Part] = []
    /// What the names in `parts` take in a reply, in bytes.
    private var namesSize = 0
    var undoing = Undo.notNeeded(sparing: nil)
    /// The backup that undoes it; nil if nothing has changed or the database was damaged before.
    var undo: Backup? {
        if case .made(let backup) = undoing { backup } else { nil }
    }
    /// How many keys have got another value.
    var set: UInt64 = 0
    /// How many keys were removed.
    var removed: UInt64 = 0
    /// How many values of the backup cannot be read.
    ///
    /// If there are any, no key is removed, because it is unknown which keys these values have.
    var damaged: UInt64 = 0
    /// How many keys differ and were left as they are, as the administrator locks them.
    var locked: UInt64 = 0

    /// Adds what would change in a domain, of which this may be one part of several.
    ///
    /// - Throws: `DefaultsError` if a reply cannot hold all names; they are counted here, as a
    ///   database may have more of them than the memory should.
    mutating func note(_ part: Part) throws(DefaultsError) {
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

    /// All of it in half a sentence.
    var description: String {
        let damaged = damaged == 0 ? "" : ", \(damaged) damaged in the backup"
        let locked = locked == 0 ? "" : ", \(locked) locked"
        return "\(set) \(set == 1 ? "key" : "keys") set, \(removed) removed\(damaged)\(locked)"
            + (undo.map { "; '\($0.name)' undoes that" } ?? "")
    }
}

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

    /// - Parameter keys: The keys that are removed if the backup does not have them, in the order
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
