import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

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
    /// Whether it is only told what would be changed.
    var isDry = false

    /// Whether a domain is restored.
    func covers(_ domain: Domain) -> Bool {
        domains.isEmpty || domains.contains { Self.covers($0, domain) }
    }

    /// Whether a domain that was named stands for another: itself, and if it has no host, its layers.
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

    /// What would change, by domain, if that was asked for.
    private(set) var parts: [Part] = []
    /// What the names in `parts` take in a reply, in bytes.
    private var namesSize = 0
    /// The backup that undoes it.
    enum Undo {
        /// Nothing has changed yet, so there is nothing to undo. A new backup must not take the place
        /// of `sparing`, which is being restored.
        case notNeeded(sparing: Backup?)
        case made(Backup)
        /// The database is damaged, which may be why somebody restores.
        case impossible
    }

    var undoing = Undo.notNeeded(sparing: nil)
    /// The backup that undoes it; nil if nothing has changed or the database was damaged before.
    var undo: Backup? {
        if case .made(let backup) = undoing { backup } else { nil }
    }
    /// How many keys have got another value.
    var set: UInt64 = 0
    /// How many keys were removed.
    var removed: UInt64 = 0
    /// How many values of the backup cannot be read; their keys are as they were, and none is
    /// removed, as nobody knows which those are.
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
