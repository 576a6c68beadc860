import DefaultsClient
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
    func run(on defaults: RemoteDefaults, isDurable: Bool) async throws -> PlannedChange {
        try await defaults.retrying {
            let (state, planned) = try await plan(on: defaults)
            if !options.changesNothing {
                try await carryOut(planned, state, on: defaults, isDurable: isDurable)
            }
            return planned
        }
    }

    // MARK: The plan

    private func plan(on defaults: RemoteDefaults) async throws -> (OwnedState, PlannedChange) {
        var state = try await OwnedState(for: document, from: defaults)
        let plan: DocumentPlan
        do {
            var planner = try Planner(
                document, live: state.live, own: state.own, rivals: state.rivals,
                typing: StoredTyping())
            planner.takesOver = ownership?.forceConflicts ?? false
            planner.removesFound = options.adopted == .remove
            try await state.readRows(planner.neededRows(), from: defaults)
            let effective = try await state.effective(for: document, from: defaults)
            let stale = try await state.staleKeys(among: planner.expectedRows, from: defaults)
            plan = try planner.plan(rows: state.rows, effective: effective, stale: stale)
        } catch let fault as DocumentPlan.Fault {
            throw ToolError.unfitForKey(fault.place, because: fault.reason)
        }
        if !plan.conflicts.isEmpty {
            throw ToolError.ownedByOthers(plan.conflicts, by: document.owner)
        }
        let isMuch = plan.owned >= 10 && plan.returned * 2 > plan.owned
        if isMuch, ownership?.yes == false, !options.dryRun { try confirm(plan) }
        let planned = try await PlannedChange(plan, options: options, checking: defaults)
        return (state, planned)
    }

    /// Asks before most of what the owner has goes back: the document may be another one, or half of it.
    private func confirm(_ plan: DocumentPlan) throws {
        let fact =
            "\(plan.returned) of the \(counted(plan.owned, "key")) of \(document.owner.name) are not in the "
            + "document any more, and get back what they had before."
        guard Confirmation.canBeAsked, !options.check else { throw ToolError.muchGoesBack(fact) }
        guard Confirmation.isGiven(fact) else { throw ToolError.notConfirmed }
    }

    // MARK: The change

    private func carryOut(
        _ planned: PlannedChange, _ state: OwnedState, on defaults: RemoteDefaults, isDurable: Bool
    ) async throws {
        var change = OneChange(state)
        for step in planned.steps {
            let step = try WrittenStep(step)
            if takesBack, change.bytes + step.bytes > RemoteDefaults.mostBytesOfChange {
                // Each part of what goes back is whole by itself: the keys with their rows.
                try await change.make(on: defaults, isDurable: isDurable)
                change = OneChange(state)
            }
            change.add(step)
        }
        guard takesBack || change.bytes <= RemoteDefaults.mostBytesOfChange else {
            throw ToolError.documentTooLarge(
                values: change.valueBytes, rows: change.bytes - change.valueBytes,
                most: RemoteDefaults.mostBytesOfChange)
        }
        try await change.make(on: defaults, isDurable: isDurable)
    }
}

/// What is written for a step.
private struct WrittenStep {
    let place: KeyPlace
    /// The key's value; nil if it does not change.
    let value: Value?
    let rows: [(name: RowName, archive: KeyedArchive?)]

    /// A value, or none.
    struct Value {
        let archive: KeyedArchive?
    }

    init(_ step: DocumentPlan.Step) throws {
        place = step.place
        value = step.changesValue ? Value(archive: step.after) : nil
        rows = try step.rows.map { ($0.name, try $0.row?.archive()) }
    }

    var valueBytes: Int { value.map { ($0.archive?.bytes.count ?? 0) + place.key.utf8.count } ?? 0 }

    var bytes: Int {
        rows.reduce(valueBytes) { $0 + ($1.archive?.bytes.count ?? 0) + $1.name.text.utf8.count }
    }
}

/// The transactions of one change: of the keys, and of the rows that say who has set them.
private struct OneChange {
    private let state: OwnedState
    private var transactions: [String: DefaultsTransaction] = [:]
    private(set) var bytes = 0
    private(set) var valueBytes = 0

    init(_ state: OwnedState) {
        self.state = state
    }

    mutating func add(_ step: WrittenStep) {
        bytes += step.bytes
        valueBytes += step.valueBytes
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

    func make(on defaults: RemoteDefaults, isDurable: Bool) async throws {
        guard !transactions.isEmpty else { return }
        let sorted = transactions.sorted { $0.key < $1.key }.map {
            (domain: $0.key, transaction: $0.value)
        }
        try await defaults.applyAll(sorted, isDurable: isDurable, unchangedSince: state.readAt)
    }
}
