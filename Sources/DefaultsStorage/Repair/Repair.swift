internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// Makes a new store from a damaged one and its backups.
///
/// Everything readable of the damaged store is kept. Missing values come from the newest readable
/// backup. For keys that are known to be lost, older backups are used too.
///
/// Invariants:
/// 1. The checksum of every row of the new store has been verified.
/// 2. The files of the damaged store are only read. `StoreReplacement` says what happens to them.
/// 3. A key that is known to have been removed does not come back.
struct Repair {
    private let store: RepairedStore
    private let path: String
    private let backups: [String]
    private let journal: UniqueID?
    private let note: StoreNote?
    private let progress: Progress?
    private var report: RepairReport
    /// What the rows of the damaged store say about its domains.
    private var domains: [Domain: SalvagedDomain] = [:]
    /// What is known of the removals of a domain whose row was not found.
    private var horizonsWithoutRow: [Domain: Generation] = [:]
    /// The entries that are known to be missing, with the known names.
    private var missing: Set<EntryName> = []
    /// The keys of which only an earlier value could be read.
    private var earlier: Set<EntryName> = []

    private static let mostMissing = 10_000
    /// The most keys without a known name that one domain is assumed to have lost.
    private static let mostUnnamed: Int64 = 1 << 40

    /// Makes a store from a damaged one.
    ///
    /// - Parameters:
    ///   - path: The damaged store. Any of its files may be missing.
    ///   - target: An empty file for the new one.
    ///   - reason: What is wrong with the damaged store.
    ///   - time: The present time, in seconds since 1970.
    ///   - backups: The paths of backups, the newest first.
    ///   - mayBeTorn: See `WriteAheadLog`.
    ///   - journal: The identity of the database by its journal; nil if there is none.
    ///   - note: How far the store had come; nil if it is not known.
    ///   - progress: Counts the pages that are read.
    static func make(
        from path: String, at target: String, because reason: String, time: UInt64,
        backups: [String], mayBeTorn: Bool, journal: UniqueID?, note: StoreNote?,
        progress: Progress? = nil
    ) throws -> RepairReport {
        var repair = Repair(
            store: try RepairedStore(at: target), path: path, backups: backups,
            journal: journal ?? note?.database, note: note, progress: progress,
            report: RepairReport(reason: reason, at: time))
        let left = try repair.takeWhatIsLeft(mayBeTorn: mayBeTorn)
        let filled = try repair.fillIn(after: left)
        try repair.finish(left, filled)
        return repair.report
    }

    /// Adds everything readable of the damaged store.
    ///
    /// - Returns: Its state, if that can be read.
    private mutating func takeWhatIsLeft(mayBeTorn: Bool) throws -> StoreState? {
        let pages = try StorePages(of: path, mayBeTorn: mayBeTorn, progress: progress)
        var salvage = try Salvage(of: pages)
        domains = salvage.domains
        horizonsWithoutRow = salvage.horizonsWithoutRow
        for row in domains.values {
            try store.note(row.domain, lastChange: row.lastChange, horizon: row.horizon)
        }
        for host in salvage.hosts { try store.add(host) }
        for time in salvage.times { try store.add(time) }
        try salvage.forEachFinding { finding in
            switch finding {
            case .entry(let domain, let entry):
                if !isCleared(entry, in: domain) { try store.add(entry, to: domain) }
            case .earlier(let domain, let entry): try addEarlier(entry, to: domain)
            case .token(let domain, let token): try store.add(token, to: domain)
            case .damaged(let domain?, let key): note(EntryName(domain: domain, key: key))
            // Several domains may have had a key with that name.
            case .damaged(nil, _): report.unnamed += 1
            }
        }
        // If hardly anything can be read, the disk is probably missing, not damaged.
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

    /// Whether an entry is on a page that became free when its whole domain was removed, but that
    /// was not yet returned to the file system.
    private func isCleared(_ entry: SalvagedEntry, in domain: Domain) -> Bool {
        guard entry.archive != nil, let row = domains[domain], row.keyCount == 0 else {
            return false
        }
        return row.horizon.map { entry.generation <= $0 } ?? false
    }

    /// Notes keys that are in the index but have no row.
    private mutating func noteIndexed(_ salvage: Salvage) throws {
        try salvage.forEachIndexedName(from: store.rootOfKeys()) { domain, key in
            let name = EntryName(domain: domain, key: key)
            if try !store.hasEntry(name) { note(name) }
        }
        missing = try missing.filter { try !store.hasEntry($0) }
        // If no value is missing, these keys were removed.
        var isWhole: [Domain: Bool] = [:]
        for domain in Set(missing.map(\.domain)) {
            isWhole[domain] = try domains[domain].map {
                try store.keyCount(of: domain) >= $0.keyCount
            }
        }
        missing = missing.filter { isWhole[$0.domain] != true }
    }

    /// Adds an earlier version of an entry, which is reported if there is no later one.
    private mutating func addEarlier(_ entry: SalvagedEntry, to domain: Domain) throws {
        let name = EntryName(domain: domain, key: entry.key)
        let isAlone = try !store.hasEntry(name)
        guard try store.add(entry, to: domain) else { return }
        missing.remove(name)
        if isAlone && entry.archive != nil { earlier.insert(name) }
    }

    /// Notes an entry that may be missing.
    private mutating func note(_ name: EntryName) {
        guard missing.count < Repair.mostMissing else { return }
        missing.insert(name)
    }

    /// Adds what is missing from the backups.
    ///
    /// - Returns: The state of the newest backup of this database that can be read.
    private mutating func fillIn(after left: StoreState?) throws -> StoreState? {
        var newest: StoreState?
        for path in backups where newest == nil || !missing.isEmpty {
            do {
                let state = try fillIn(from: path, after: left, isNewest: newest == nil)
                newest = newest ?? state
            } catch is SystemError {
                // An older backup may be readable.
                continue
            }
        }
        return newest
    }

    /// Adds what is missing from a backup, if it is one of this database.
    ///
    /// - Parameter isNewest: Whether to add entries that are not known to be missing, too.
    private mutating func fillIn(
        from path: String, after left: StoreState?, isNewest: Bool
    ) throws -> StoreState? {
        var salvage = try Salvage(
            of: StorePages(of: path, mayBeTorn: false, progress: progress))
        guard let state = salvage.state else { return nil }
        if let expected = left?.uuid ?? journal, state.uuid != expected { return nil }
        for host in salvage.hosts { try store.add(host) }
        for time in salvage.times { try store.add(time) }
        let isNewer = left.map { $0.generation < state.generation } ?? true
        if isNewest && isNewer { report.isBlind = true }
        var filled = RepairReport.Filling(backup: path)
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
            // If the backup has a newer value, the store has lost it.
            if hadValue, earlier.remove(name) == nil { report.kept -= 1 }
            if entry.archive != nil { filled.add(name) }
        }
        if filled.count > 0 { report.filled.append(filled) }
        return state
    }

    /// Whether a domain had more keys than were found or are known to be missing.
    private func isShort(_ domain: Domain) throws -> Bool {
        guard let row = domains[domain] else { return true }
        let named = missing.reduce(Int64(0)) { $0 + ($1.domain == domain ? 1 : 0) }
        return try store.keyCount(of: domain) + named < row.keyCount
    }

    /// Whether there is no sign that the key was removed after the backup was made.
    private func mayBeThere(_ entry: SalvagedEntry, in domain: Domain) -> Bool {
        let horizon = domains[domain].map(\.horizon) ?? horizonsWithoutRow[domain]
        return horizon.map { entry.generation > $0 } ?? true
    }
}

// MARK: The end

extension Repair {
    /// Completes the new store.
    ///
    /// Its generations continue above all that may have been given. A client that expects an old
    /// state of an incomplete domain learns that the domain has changed.
    private mutating func finish(
        _ left: StoreState?, _ filled: StoreState?
    ) throws {
        let uuid = left?.uuid ?? journal ?? filled?.uuid ?? .random()
        // A new store that is older than the note would count as damaged at the next start.
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
                ceiling: landing, record: ChangeRecord(start: landing)),
            report)
    }

    private mutating func noteLoss(at landing: Generation) throws {
        report.missing = missing.sorted()
        report.earlier = earlier.sorted()
        // Grouped once for all domains, because there may be many domains and many keys.
        let named = Dictionary(grouping: missing, by: \.domain).mapValues { Int64($0.count) }
        for row in domains.values {
            let known = try store.keyCount(of: row.domain) + (named[row.domain] ?? 0)
            guard known < row.keyCount else { continue }
            // A damaged row may contain any count.
            report.unnamed += Int(min(row.keyCount - known, Repair.mostUnnamed))
            report.short.append(row.domain)
        }
        for touched in report.domains {
            try store.note(touched.domain, lastChange: landing)
            // A transaction with a remembered token may be lost.
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
