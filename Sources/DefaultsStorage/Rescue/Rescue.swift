internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The making of a sound store from a damaged one and its backups.
///
/// What can be read of the damaged store is kept. Where something is missing, the newest backup
/// that can be read fills in, and older ones where a key is known to be lost.
///
/// Invariants:
/// 1. Every row of the new store is proven by its checksum.
/// 2. The files of the damaged store are read only; see `StoreReplacement` for what becomes of them.
/// 3. No key comes back of which it is known that it was removed.
struct Rescue {
    private let store: RescuedStore
    private let path: String
    private let backups: [String]
    private let journal: UniqueID?
    private let note: StoreNote?
    private let progress: Progress?
    private var report: RescueReport
    /// What the rows of the damaged store tell of its domains.
    private var domains: [Domain: SalvagedDomain] = [:]
    /// The entries that are known to be missing, as far as they are told apart.
    private var missing: Set<EntryName> = []
    /// The keys of which only an earlier value was read.
    private var earlier: Set<EntryName> = []

    private static let mostMissing = 10_000
    /// As many keys as one domain is believed to have lost without a name.
    private static let mostUnnamed: Int64 = 1 << 40

    /// Makes a store beside a damaged one.
    ///
    /// - Parameters:
    ///   - path: The damaged one, of which any file may be missing.
    ///   - target: An empty file for the new one.
    ///   - reason: What is wrong with the damaged one.
    ///   - backups: The paths of backups, the newest first.
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    ///   - journal: The identity of the database by its journal; nil where there is none.
    ///   - note: How far the store had come; nil if nothing tells.
    ///   - progress: Told of each page that is read.
    static func make(
        from path: String, at target: String, because reason: String, backups: [String],
        mayBeTorn: Bool, journal: UniqueID?, note: StoreNote?, progress: Progress? = nil
    ) throws -> RescueReport {
        var rescue = Rescue(
            store: try RescuedStore(at: target), path: path, backups: backups,
            journal: journal ?? note?.database, note: note, progress: progress,
            report: RescueReport(reason: reason))
        let left = try rescue.takeWhatIsLeft(mayBeTorn: mayBeTorn)
        let filled = try rescue.fillIn(after: left)
        try rescue.finish(left, filled)
        return rescue.report
    }

    /// Takes everything that can be read of the damaged store.
    ///
    /// - Returns: Its state, where that can be read.
    private mutating func takeWhatIsLeft(mayBeTorn: Bool) throws -> StoreState? {
        let pages = try StorePages(of: path, mayBeTorn: mayBeTorn, progress: progress)
        var salvage = try Salvage(of: pages)
        domains = salvage.domains
        for row in domains.values {
            try store.note(row.domain, lastChange: row.lastChange, horizon: row.horizon)
        }
        for host in salvage.hosts { try store.add(host) }
        try salvage.forEachFinding { finding in
            switch finding {
            case .entry(let domain, let entry):
                if !isCleared(entry, in: domain) { try store.add(entry, to: domain) }
            case .earlier(let domain, let entry): try addEarlier(entry, to: domain)
            case .token(let domain, let token): try store.add(token, to: domain)
            case .damaged(let domain?, let key): note(EntryName(domain: domain, key: key))
            // Several domains may have had a key of that name.
            case .damaged(nil, _): report.unnamed += 1
            }
        }
        // Where hardly anything can be read, the medium is away rather than damaged.
        if pages.unreadable > pages.count / 2 {
            throw SystemError(call: "read", path: path, number: EIO)
        }
        try noteIndexed(salvage)
        report.kept = try store.keyCount() - earlier.count
        try salvage.forEachEarlierEntry { finding in
            guard case .entry(let domain, let entry) = finding else { return }
            if missing.contains(EntryName(domain: domain, key: entry.key)) {
                try addEarlier(entry, to: domain)
            }
        }
        return salvage.state
    }

    /// Whether an entry stands on a page that is free since its whole domain was removed, and was not
    /// returned to the disk yet.
    private func isCleared(_ entry: SalvagedEntry, in domain: Domain) -> Bool {
        guard entry.archive != nil, let row = domains[domain], row.keyCount == 0 else {
            return false
        }
        return row.horizon.map { entry.generation <= $0 } ?? false
    }

    /// Notes what the index of keys names and has no row.
    private mutating func noteIndexed(_ salvage: Salvage) throws {
        try salvage.forEachIndexedName(from: store.rootOfKeys()) { domain, key in
            let name = EntryName(domain: domain, key: key)
            if try !store.hasEntry(name) { note(name) }
        }
        missing = try missing.filter { try !store.hasEntry($0) }
        // Where no value is missing, these were removals.
        var isWhole: [Domain: Bool] = [:]
        for domain in Set(missing.map(\.domain)) {
            isWhole[domain] = try domains[domain].map {
                try store.keyCount(of: domain) >= $0.keyCount
            }
        }
        missing = missing.filter { isWhole[$0.domain] != true }
    }

    /// Adds an entry as it was before, which is told where there is none that came later.
    private mutating func addEarlier(_ entry: SalvagedEntry, to domain: Domain) throws {
        let name = EntryName(domain: domain, key: entry.key)
        let isAlone = try !store.hasEntry(name)
        guard try store.add(entry, to: domain) else { return }
        missing.remove(name)
        if isAlone && entry.archive != nil { earlier.insert(name) }
    }

    /// Notes an entry that may be missing.
    private mutating func note(_ name: EntryName) {
        guard missing.count < Rescue.mostMissing else { return }
        missing.insert(name)
    }

    /// Takes from the backups what is missing.
    ///
    /// - Returns: The state of the newest backup of this database that can be read.
    private mutating func fillIn(after left: StoreState?) throws -> StoreState? {
        var newest: StoreState?
        for path in backups where newest == nil || !missing.isEmpty {
            do {
                let state = try fillIn(from: path, after: left, isNewest: newest == nil)
                newest = newest ?? state
            } catch is SystemError {
                // It cannot be read, and perhaps an older one can.
                continue
            }
        }
        return newest
    }

    /// Takes from a backup, if it is one of this database.
    ///
    /// - Parameter isNewest: Whether what is not known to be missing may be, too.
    private mutating func fillIn(
        from path: String, after left: StoreState?, isNewest: Bool
    ) throws -> StoreState? {
        var salvage = try Salvage(
            of: StorePages(of: path, mayBeTorn: false, progress: progress))
        guard let state = salvage.state else { return nil }
        if let expected = left?.uuid ?? journal, state.uuid != expected { return nil }
        for host in salvage.hosts { try store.add(host) }
        let isNewer = left.map { $0.generation < state.generation } ?? true
        if isNewest && isNewer { report.isBlind = true }
        var filled = RescueReport.Filling(backup: path)
        var shortDomains: [Domain: Bool] = [:]
        try salvage.forEachFinding { finding in
            guard case .entry(let domain, let entry) = finding else { return }
            let name = EntryName(domain: domain, key: entry.key)
            if !missing.contains(name) {
                guard isNewest else { return }
                if !isNewer {
                    let isShort = try shortDomains[domain] ?? isShort(domain)
                    shortDomains[domain] = isShort
                    guard isShort, mayBeThere(entry, in: domain) else { return }
                }
            }
            let hadValue = try store.hasValue(name)
            guard try store.add(entry, to: domain) else { return }
            missing.remove(name)
            // What the backup has newer was not kept.
            if hadValue, earlier.remove(name) == nil { report.kept -= 1 }
            if entry.archive != nil { filled.add(name) }
        }
        if filled.count > 0 { report.filled.append(filled) }
        return state
    }

    /// Whether a domain has had more keys than were found and are known to be missing.
    private func isShort(_ domain: Domain) throws -> Bool {
        guard let row = domains[domain] else { return true }
        let named = missing.reduce(Int64(0)) { $0 + ($1.domain == domain ? 1 : 0) }
        return try store.keyCount(of: domain) + named < row.keyCount
    }

    /// Whether nothing tells that a key was removed after a backup has had it.
    private func mayBeThere(_ entry: SalvagedEntry, in domain: Domain) -> Bool {
        domains[domain]?.horizon.map { entry.generation > $0 } ?? true
    }
}

// MARK: The end

extension Rescue {
    /// Makes the new store whole.
    ///
    /// Its numbers go on above all that may have been given. Whoever expects a domain that lacks
    /// something to be as he knows it is told otherwise.
    private mutating func finish(
        _ left: StoreState?, _ filled: StoreState?
    ) throws {
        let uuid = left?.uuid ?? journal ?? filled?.uuid ?? .random()
        // The new store is never behind the note, or the next start would take it for damaged.
        let noted = note.flatMap { $0.database == uuid && !$0.isClosed ? $0.generation : nil }
        if left.map({ $0.generation < noted ?? .first }) ?? true { report.isBlind = true }
        let states = [left, filled].compactMap(\.self)
        let last = max(try store.lastGeneration() ?? .first, noted ?? .first)
        let generation = max(left?.generation ?? last, last)
        let ceiling = states.map(\.ceiling)
            .reduce(generation.ceiling, max)
        let landing = Generation.landing(above: ceiling)
        try noteLoss(at: landing)
        try store.finish(
            StoreState(
                uuid: uuid, generation: generation,
                ceiling: landing, recordStart: landing),
            report)
    }

    private mutating func noteLoss(at landing: Generation) throws {
        report.missing = missing.sorted()
        report.earlier = earlier.sorted()
        // Once for all domains: there may be many of these, and many keys.
        let named = Dictionary(grouping: missing, by: \.domain).mapValues { Int64($0.count) }
        for row in domains.values {
            let known = try store.keyCount(of: row.domain) + (named[row.domain] ?? 0)
            guard known < row.keyCount else { continue }
            // A damaged row may claim any count.
            report.unnamed += Int(min(row.keyCount - known, Rescue.mostUnnamed))
            report.short.append(row.domain)
        }
        for touched in report.domains {
            try store.note(touched.domain, lastChange: landing)
            // A transaction that is told to be made may be lost.
            try store.forgetTokens(of: touched.domain)
        }
    }
}

/// The name of an entry.
struct EntryName: Hashable, Comparable {
    let domain: Domain
    let key: Key

    static func < (first: EntryName, second: EntryName) -> Bool {
        (first.domain, first.key) < (second.domain, second.key)
    }
}
