import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import OwnedDocuments
import Wording

/// Makes the defaults what a document says.
struct DocumentApplication {
    let document: OwnedDocument
    let options: DocumentOptions
    /// Nil if everything that the owner has goes back.
    let ownership: OwnershipOptions?

    private var takesBack: Bool { ownership == nil }

    /// - Returns: What is to be done, or was done.
    /// - Throws: `ToolError`, which says so if a part was done.
    func run(on defaults: RemoteDefaults, isDurable: Bool) async throws -> PlannedChange {
        var done = DoneParts()
        var latest: OwnedState?
        do {
            return try await defaults.retrying {
                let (state, planned) = try await plan(on: defaults)
                latest = state
                let changes = try changes(planned, state)
                if !options.changesNothing {
                    for change in changes {
                        try await change.make(
                            by: document.owner, on: defaults, isDurable: isDurable)
                        done.add(change)
                    }
                }
                return planned
            }
        } catch let error as DefaultsError where error.code == .conflict {
            throw done.remarked(ToolError.keptChanging(try await latest?.changedKey(in: defaults)))
        } catch is ChangedMeanwhile {
            throw done.remarked(ToolError.keptChanging(nil))
        } catch {
            throw done.remarked(error)
        }
    }

    // MARK: The plan

    private func plan(on defaults: RemoteDefaults) async throws -> (OwnedState, PlannedChange) {
        var state = try await OwnedState(for: document, from: defaults)
        var planner = Planner(
            document, live: state.live, own: state.own, rivals: state.rivals, typing: StoredTyping()
        )
        planner.takesOver = ownership?.forceConflicts ?? false
        planner.removesFound = options.adopted == .remove
        try await state.readRows(planner.neededRows(), from: defaults)
        let effective = try await state.effective(for: document, from: defaults)
        let stale = try await state.staleKeys(among: planner.expectedRows, from: defaults)
        let plan = planner.plan(rows: state.rows, effective: effective, stale: stale)
        if !plan.faults.isEmpty { throw ToolError.unfitForKeys(plan.faults) }
        if !plan.conflicts.isEmpty {
            throw ToolError.ownedByOthers(plan.conflicts, by: document.owner)
        }
        let isMuch = plan.owned >= 10 && plan.returned * 2 > plan.owned
        if isMuch, ownership?.yes == false { try confirm(plan) }
        let planned = try await PlannedChange(
            plan, of: document, options: options, checking: defaults)
        return (state, planned)
    }

    /// Asks before most of what the owner has goes back: the document may be another one, or half of it.
    private func confirm(_ plan: DocumentPlan) throws {
        let fact =
            "\(plan.returned) of the \(counted(plan.owned, "key")) of \(document.owner.name) are not in the "
            + "document any more, and get back what they had before."
        guard !options.dryRun else {
            return Complaint.sayOnce("\(fact) 'defaultsctl apply' asks, or needs --yes.")
        }
        guard Confirmation.canBeAsked, !options.check else { throw ToolError.muchGoesBack(fact) }
        guard Confirmation.isGiven(fact) else { throw ToolError.notConfirmed }
    }

    // MARK: The change

    /// The changes that are made one after the other: what the document wants is one, and what goes back
    /// fills it up, and is divided among others if it is too much.
    private func changes(_ planned: PlannedChange, _ state: OwnedState) throws -> [OneChange] {
        var changes = [OneChange(state)]
        for step in planned.steps where !step.leavesDocument {
            changes[0].add(try WrittenStep(step))
        }
        guard changes[0].bytes <= RemoteDefaults.mostBytesOfChange else {
            throw ToolError.documentTooLarge(
                changes[0].bytes, kept: changes[0].keptBytes,
                most: RemoteDefaults.mostBytesOfChange)
        }
        for step in planned.steps where step.leavesDocument {
            let step = try WrittenStep(step)
            let isFull =
                changes[changes.count - 1].bytes + step.bytes > RemoteDefaults.mostBytesOfChange
            if isFull { changes.append(OneChange(state)) }
            // Each is whole by itself: the keys with their rows.
            changes[changes.count - 1].add(step)
        }
        return changes
    }
}

/// What was done before an error.
private struct DoneParts {
    private var keys = 0

    mutating func add(_ change: OneChange) { keys += change.count }

    /// The error, which says what was done.
    func remarked(_ error: any Error) -> any Error {
        guard keys > 0 else { return error }
        return ToolError(error).remarking(
            "\(counted(keys, "key")) had been changed before. Run the command again for the others."
        )
    }
}

/// What is written for a step.
private struct WrittenStep {
    let place: KeyPlace
    /// The key's value; nil if it does not change.
    let value: Value?
    let rows: [(name: RowName, archive: KeyedArchive?)]
    /// The bytes of the row's value that comes back later.
    let keptBytes: Int

    /// A value, or none.
    struct Value {
        let archive: KeyedArchive?
    }

    init(_ step: DocumentPlan.Step) throws {
        place = step.place
        value = step.changesValue ? Value(archive: step.after) : nil
        rows = try step.rows.map { ($0.name, try $0.row?.archive()) }
        keptBytes = step.rows.reduce(0) {
            if case .archive(let archive)? = $1.row?.former { $0 + archive.bytes.count } else { $0 }
        }
    }

    var bytes: Int {
        let valueBytes = value.map { ($0.archive?.bytes.count ?? 0) + place.key.utf8.count } ?? 0
        return rows.reduce(valueBytes) {
            $0 + ($1.archive?.bytes.count ?? 0) + $1.name.text.utf8.count
        }
    }
}

/// The transactions of one change: of the keys, and of the rows that say who has set them.
private struct OneChange {
    private let state: OwnedState
    private var transactions: [String: DefaultsTransaction] = [:]
    /// How many keys have a new value, or a new owner.
    private(set) var count = 0
    private(set) var bytes = 0
    /// The bytes of values that come back later.
    private(set) var keptBytes = 0

    init(_ state: OwnedState) {
        self.state = state
    }

    mutating func add(_ step: WrittenStep) {
        count += 1
        bytes += step.bytes
        keptBytes += step.keptBytes
        if let value = step.value { set(step.place, to: value.archive) }
        expect(step.place)
        for (name, archive) in step.rows {
            let place = KeyPlace(domain: AppliedTerms.domain, key: name.text)
            set(place, to: archive)
            expect(place)
        }
    }

    private mutating func set(_ place: KeyPlace, to archive: KeyedArchive?) {
        // In place: a copy of the whole transaction for each key would take long.
        if let archive {
            transactions[place.domain, default: DefaultsTransaction()].set(place.key, to: archive)
        } else {
            transactions[place.domain, default: DefaultsTransaction()].remove(place.key)
        }
    }

    private mutating func expect(_ place: KeyPlace) {
        guard let generation = state.expectation(of: place) else { return }
        transactions[place.domain, default: DefaultsTransaction()].expected[place.key] = generation
    }

    func make(by owner: Owner, on defaults: RemoteDefaults, isDurable: Bool) async throws {
        guard !transactions.isEmpty else { return }
        var sorted = transactions.sorted { $0.key < $1.key }.map {
            (domain: $0.key, transaction: $0.value)
        }
        sorted[0].transaction.sponsor = ChangeSponsor(kind: .document, owner: owner.name)
        do {
            try await defaults.applyAll(sorted, isDurable: isDurable, unchangedSince: state.readAt)
        } catch {
            throw LostAnswer(error, advice: "Run the command again.") ?? error
        }
    }
}
