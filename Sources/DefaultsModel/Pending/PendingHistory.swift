/// What the pending changes were before only the last one of each key was left: the actions that the next
/// flush adds to the history.
///
/// Invariants:
/// 1. A row is true: the key had `was` until just before `first`. What is not known has no row, and is
///    counted in ``PendingAction/missing``.
/// 2. Its memory is bounded: for each key, each domain, and all of them together.
/// 3. Changes are one action if their notes say so: ``ActionJoining`` decides that.
package struct PendingHistory: Sendable {
    /// The most rows of one key.
    private static let mostRowsOfKey = 16
    /// The most bytes of earlier values of one domain: 1 MiB.
    package static let mostBytesOfDomain = 1 << 20
    /// The most bytes of earlier values: 8 MiB.
    private static let mostBytes = 8 << 20
    /// The most rows.
    private static let mostRows = 1 << 16
    /// The most actions.
    private static let mostActions = 1 << 15
    /// The memory that a row is estimated to need besides its value, in bytes.
    private static let rowOverhead = 96

    /// The actions, in the order of their first changes.
    package private(set) var actions: [PendingAction] = []
    /// The memory that they need, in bytes.
    package private(set) var bytes = 0
    /// The domains of changes for which there was no room, each with the last of them.
    package private(set) var missed: [Domain: Generation] = [:]
    private var rowCount = 0
    /// The last part of each action.
    ///
    /// A flush that has failed may have left another part of it.
    private var numbers: [Generation: Int] = [:]
    private var domains: [Domain: DomainState] = [:]

    /// What is known about the keys of a domain.
    private struct DomainState: Sendable {
        /// The action with the newest row of each key, and how many rows the key has.
        var newest: [Key: (action: Int, rows: Int)] = [:]
        /// The bytes of earlier values.
        var bytes = 0

        mutating func note(_ action: Int, of key: Key, bytes: Int) {
            newest[key, default: (action, 0)].action = action
            newest[key, default: (action, 0)].rows += 1
            self.bytes += bytes
        }
    }

    init() {}

    /// Whether nothing is to be noted.
    package var isEmpty: Bool { actions.isEmpty }

    /// Adds a change before it is added to the domain.
    ///
    /// - Parameters:
    ///   - change: A change of one domain, or the part of a change that is about one.
    ///   - pending: What is pending in the domain; nil if nothing is.
    mutating func add(_ change: ChangeSet, to pending: PendingDomain?) {
        guard change.domain.hasHistory, !change.proposal.changesNothing else { return }
        let note = change.proposal.note ?? .unknown
        let keys = change.set.map(\.key) + change.removed
        guard let index = action(of: change, note) else {
            return miss(keys, of: change.domain, at: change.generation)
        }
        if change.clearsDomain {
            clear(change.domain, pending, in: index, at: change.generation, note.isCoalesced)
        }
        for key in keys {
            if !note.isCoalesced,
                actions[index].goOn(key, in: change.domain, at: change.generation)
            {
                continue
            }
            begin(
                key, of: change.domain, pending?.entry(key), in: index, at: change.generation,
                note.isCoalesced)
        }
    }

    /// Notes a change for which there is no room.
    private mutating func miss(_ keys: [Key], of domain: Domain, at generation: Generation) {
        missed[domain] = generation
        for key in keys {
            guard let newest = domains[domain]?.newest.removeValue(forKey: key) else { continue }
            actions[newest.action].leaveOpen(key, in: domain)
        }
    }

    /// Adds changes that are all newer than the ones here.
    ///
    /// - Parameter pending: What is pending here.
    mutating func add(_ later: PendingHistory, after pending: [Domain: PendingDomain]) {
        missed.merge(later.missed) { $1 }
        for action in later.actions {
            var action = action
            action.rebase(on: pending)
            let index = actions.count
            append(action)
            for (domain, part) in action.parts {
                for (key, row) in part.rows {
                    note(row, of: key, in: domain, at: index)
                }
            }
        }
    }

    /// The note of the newest pending change of a key; nil if it has none.
    ///
    /// It says that the change is coalesced if the key has changed before, and that is not on disk.
    func note(of key: Key, in domain: Domain) -> ChangeNote? {
        guard let index = domains[domain]?.newest[key]?.action else { return nil }
        var note = actions[index].note
        note.action = actions[index].id
        let row = actions[index].parts[domain]?.rows[key]
        note.isCoalesced = row.map { $0.first != $0.last || $0.was != .stored } ?? true
        return note
    }

    /// The note of the pending removal of a whole domain; nil if there is none.
    func note(ofClearing domain: Domain) -> ChangeNote? {
        guard let action = actions.last(where: { $0.parts[domain]?.cleared != nil }) else {
            return nil
        }
        var note = action.note
        (note.action, note.isCoalesced) = (action.id, true)
        return note
    }

    /// The action of a change: the one that it goes on with, that of its part in another domain, or a new one.
    ///
    /// - Returns: Nil if there are too many.
    private mutating func action(of change: ChangeSet, _ note: ChangeNote) -> Int? {
        // A number that the journal has may be anything, but not later.
        let id = min(note.action ?? change.generation, change.generation)
        if let known = numbers[id] {
            actions[known].extend(to: change.generation, note)
            return known
        }
        guard actions.count < PendingHistory.mostActions else { return nil }
        append(PendingAction(id, first: change.generation, note))
        bytes += PendingHistory.rowOverhead
        return actions.count - 1
    }

    private mutating func append(_ action: PendingAction) {
        numbers[action.id] = actions.count
        actions.append(action)
    }

    private mutating func begin(
        _ key: Key, of domain: Domain, _ before: PendingEntry?, in index: Int,
        at generation: Generation, _ isCoalesced: Bool = false
    ) {
        let was = before.map { PendingAction.Was.pending($0) } ?? .stored
        let size = was.size
        let hasRoom =
            rowCount < PendingHistory.mostRows
            && (domains[domain]?.newest[key]?.rows ?? 0) < PendingHistory.mostRowsOfKey
            && (domains[domain]?.bytes ?? 0) + size <= PendingHistory.mostBytesOfDomain
            && bytes + size <= PendingHistory.mostBytes
        guard hasRoom, !isCoalesced else {
            // The row before it does not say what became of the key.
            if let newest = domains[domain]?.newest[key] {
                actions[newest.action].leaveOpen(key, in: domain)
            }
            domains[domain, default: DomainState()].newest[key, default: (index, 0)].action = index
            return actions[index].miss(key, in: domain)
        }
        let row = PendingAction.Row(was: was, first: generation, last: generation)
        actions[index].put(row, key, in: domain)
        note(row, of: key, in: domain, at: index)
    }

    private mutating func note(
        _ row: PendingAction.Row, of key: Key, in domain: Domain, at index: Int
    ) {
        // In place: a copy would cost as much as all that is pending.
        domains[domain, default: DomainState()].note(index, of: key, bytes: row.was.size)
        rowCount += 1
        bytes += PendingHistory.rowOverhead + key.length + row.was.size
    }

    /// Notes the removal of a whole domain.
    private mutating func clear(
        _ domain: Domain, _ pending: PendingDomain?, in index: Int, at generation: Generation,
        _ isCoalesced: Bool
    ) {
        let entries = pending?.entries ?? [:]
        let size = entries.values.reduce(0) { $0 + ($1.archive?.count ?? 0) }
        let isStored = pending?.cleared == nil
        guard size <= PendingHistory.mostBytesOfDomain, !isCoalesced else {
            return actions[index].clear(
                domain, at: generation, includingStored: false, missing: max(1, entries.count))
        }
        actions[index].clear(
            domain, at: generation, includingStored: isStored, except: Set(entries.keys), missing: 0
        )
        for (key, entry) in entries where entry.archive != nil {
            begin(key, of: domain, entry, in: index, at: generation)
        }
    }
}

/// An action as far as it is pending.
package struct PendingAction: Sendable {
    /// What a key had before.
    package enum Was: Sendable, Equatable {
        /// What the store has when the flush begins.
        case stored
        /// A value that was pending, or a removal.
        case pending(PendingEntry)

        /// The size of the value that it keeps in memory, in bytes.
        var size: Int {
            if case .pending(let entry) = self { entry.archive?.count ?? 0 } else { 0 }
        }
    }

    /// The changes of a key.
    package struct Row: Sendable {
        package fileprivate(set) var was: Was
        /// The first change.
        package let first: Generation
        /// The last change.
        package fileprivate(set) var last: Generation
        /// Whether the next change of the key has no row.
        package fileprivate(set) var isOpen = false

        /// The change of a key that is in the store.
        package static func stored(changedAt generation: Generation) -> Row {
            Row(was: .stored, first: generation, last: generation)
        }
    }

    /// What it changed in one domain.
    package struct Part: Sendable {
        package fileprivate(set) var rows: [Key: Row] = [:]
        /// How many keys have no row.
        package fileprivate(set) var missing = 0
        /// The last of them that was counted.
        fileprivate var lastMissing: Key?
        /// The change that removed the whole domain; nil if none did.
        package fileprivate(set) var cleared: Generation?
        /// Whether all keys were removed that the store has when the flush begins, apart from ``except``.
        package fileprivate(set) var clearsStored = false
        /// The keys that had pending changes when the domain was cleared.
        package fileprivate(set) var except: Set<Key> = []
    }

    /// The action that it is, or is a part of, by the generation of its first change.
    package let id: Generation
    /// The generation of the first change that is pending.
    package let first: Generation
    /// The generation of the last change.
    package private(set) var last: Generation
    /// The note of the first change.
    package let note: ChangeNote
    /// When the last change was made, in seconds since 1970.
    package private(set) var endTime: Int64
    /// What it changed, by domain.
    package private(set) var parts: [Domain: Part] = [:]

    init(_ id: Generation, first: Generation, _ note: ChangeNote) {
        self.id = id
        self.first = first
        last = first
        self.note = note
        endTime = note.time
    }

    mutating func extend(to generation: Generation, _ note: ChangeNote) {
        last = generation
        endTime = note.time
    }

    /// Changes a key again.
    ///
    /// - Returns: Whether it has a row, which then reaches up to this change.
    mutating func goOn(_ key: Key, in domain: Domain, at generation: Generation) -> Bool {
        parts[domain]?.rows[key]?.last = generation
        return parts[domain]?.rows[key] != nil
    }

    mutating func put(_ row: Row, _ key: Key, in domain: Domain) {
        parts[domain, default: Part()].rows[key] = row
    }

    mutating func miss(_ key: Key, in domain: Domain) {
        // A slider changes the same key again and again.
        guard parts[domain]?.lastMissing != key else { return }
        parts[domain, default: Part()].missing += 1
        parts[domain]?.lastMissing = key
    }

    mutating func leaveOpen(_ key: Key, in domain: Domain) {
        parts[domain]?.rows[key]?.isOpen = true
    }

    mutating func clear(
        _ domain: Domain, at generation: Generation, includingStored: Bool,
        except: Set<Key> = [], missing: Int
    ) {
        var part = parts[domain] ?? Part()
        (part.cleared, part.clearsStored, part.except) = (generation, includingStored, except)
        part.missing += missing
        parts[domain] = part
    }

    /// Says what keys had that the store does not have yet.
    mutating func rebase(on pending: [Domain: PendingDomain]) {
        for (domain, part) in parts {
            guard let before = pending[domain] else { continue }
            var part = part
            for (key, row) in part.rows where row.was == .stored {
                if let entry = before.entry(key) { part.rows[key]?.was = .pending(entry) }
            }
            if part.clearsStored {
                for (key, entry) in before.entries where !part.except.contains(key) {
                    part.except.insert(key)
                    guard entry.archive != nil else { continue }
                    let generation = part.cleared ?? first
                    part.rows[key] = Row(
                        was: .pending(entry), first: generation, last: generation)
                }
                part.clearsStored = before.cleared == nil
            }
            parts[domain] = part
        }
    }
}
