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

    /// How often a plan is made while other programs change the same keys.
    private static let mostPlans = 50
    /// The most bytes of archives and names of one change.
    private static let mostBytes = 60 << 20

    /// - Returns: What is to be done, or was done.
    func run(on defaults: RemoteDefaults, isDurable: Bool) async throws -> PlannedChange {
        for _ in 1..<Self.mostPlans {
            if let planned = try await attempt(on: defaults, isDurable) { return planned }
            // Of several that wait, each has its turn.
            try await Task.sleep(for: .milliseconds(.random(in: 1...20)))
        }
        guard let planned = try await attempt(on: defaults, isDurable) else {
            throw ToolError.neverStill(document.owner)
        }
        return planned
    }

    /// Makes a plan, and carries it out.
    ///
    /// - Returns: Nil if something was changed meanwhile.
    private func attempt(
        on defaults: RemoteDefaults, _ isDurable: Bool
    ) async throws -> PlannedChange? {
        do {
            let (state, planned) = try await plan(on: defaults)
            if options.changesNothing { return planned }
            try await carryOut(planned, state, on: defaults, isDurable: isDurable)
            return planned
        } catch is ChangedMeanwhile {
            return nil
        } catch let error as DefaultsError where error.code == .conflict {
            return nil
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
            plan = try planner.plan(rows: state.rows, effective: effective)
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
            try change.add(step)
            guard change.bytes > Self.mostBytes else { continue }
            guard takesBack else { continue }
            // Each part of what goes back is whole by itself: the keys with their rows.
            try await change.make(on: defaults, isDurable: isDurable)
            change = OneChange(state)
        }
        guard change.bytes <= Self.mostBytes || takesBack else {
            throw ToolError.documentTooLarge(
                values: change.valueBytes, rows: change.bytes - change.valueBytes,
                most: Self.mostBytes)
        }
        try await change.make(on: defaults, isDurable: isDurable)
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

    mutating func add(_ step: DocumentPlan.Step) throws {
        if step.changesValue {
            add(step.after, at: step.place)
            valueBytes = bytes
        } else {
            expect(step.place)
        }
        for (name, row) in step.rows {
            add(
                try row?.archive(), at: KeyPlace(domain: AppliedTerms.domain, key: name.text))
        }
    }

    private mutating func add(_ archive: KeyedArchive?, at place: KeyPlace) {
        // In place: a copy of the whole transaction for each key would take long.
        if let archive {
            transactions[place.domain, default: DefaultsTransaction()].set(place.key, to: archive)
        } else {
            transactions[place.domain, default: DefaultsTransaction()].remove(place.key)
        }
        bytes += (archive?.bytes.count ?? 0) + place.key.utf8.count
        expect(place)
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
