package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
import DefaultsTerms
import Wording

/// The history: what changed earlier, and taking it back.
///
/// All of this is read when everything is on disk that was acknowledged before.
extension Settings {
    /// How often a plan is made again because keys have changed while it was made.
    private static let mostAttempts = 8

    /// How actions are taken back.
    package struct TakingBackOptions: Sendable {
        package var isPartial = false
        package var isForced = false
        package var isDry = false
        package var isDurable = false

        package init() {}
    }

    /// The actions that a filter lets through, the newest first, and the time from which on the history is
    /// complete, in seconds since 1970.
    package nonisolated(nonsending) func actions(
        _ filter: ActionFilter
    ) async throws -> (actions: [ActionSummary], knownSince: Int64) {
        try await flushForHistory()
        return try await history.reading { try await store.writer.actions(filter) }
    }

    /// An action with the keys that it changed.
    ///
    /// - Throws: `NotFound` if the history does not have it.
    package nonisolated(nonsending) func action(
        _ number: UInt64
    ) async throws -> (ActionSummary, [ActionChange]) {
        try await flushForHistory()
        let found = try await history.reading { try await store.writer.action(number) }
        guard let (action, changes) = found else {
            throw ContractError(noAction: number)
        }
        let shown = changes.map { change in
            var change = change
            if change.standing == .holds, isLocked(change.key, in: change.domain) {
                change.standing = .locked
            }
            return change
        }
        return (action, shown)
    }

    /// What keys of a domain had after a generation, or at a time.
    package nonisolated(nonsending) func values(
        of keys: [Key], in domain: Domain, at generation: Generation?, time: Int64
    ) async throws -> HistoryValues {
        try await flushForHistory()
        if let generation, generation > store.generation {
            throw ContractError(futureGeneration: generation.rawValue)
        }
        let count = keys.isEmpty ? try store.database.totals(of: domain).keys : keys.count
        guard count <= ContractLimits.maximumTransactionKeys else {
            throw ContractError(
                .tooLarge,
                """
                \(counted(count, "key")) are too many for one call. Ask for at most \
                \(ContractLimits.maximumTransactionKeys), or read a backup.
                """)
        }
        return try await history.reading {
            try await store.writer.values(of: keys, in: domain, at: generation, time: time)
        }
    }

    /// Takes actions back, or does them again, in one change.
    ///
    /// - Parameter reply: Called once with the generation of the change, which is nil if nothing was changed,
    ///   and with what has become of each key.
    /// - Throws: `NotFound`, `Conflict` or `Locked` if not all of it can be done and the options do not allow
    ///   for that; the errors of ``change(_:by:_:then:)``. Then nothing was changed.
    package nonisolated(nonsending) func takeBack(
        _ request: TakingBackRequest, by caller: Caller, _ options: TakingBackOptions
    ) async throws -> (generation: Generation?, items: [TakingBackPlan.Item]) {
        for _ in 0..<Self.mostAttempts {
            try await flushForHistory()
            let plan: TakingBackPlan
            do {
                plan = try await history.reading { try await store.writer.plan(request) }
            } catch let obstacle as TakingBackObstacle {
                throw ContractError(obstacle)
            }
            try checkNotEnding()
            // Nothing may suspend between this and the change.
            guard try isCurrent(plan) else { continue }
            return try await carryOut(plan, request, by: caller, options)
        }
        throw ContractError(
            .conflict, "Other programs change these keys all the time.", .nothingChanged)
    }

    private nonisolated(nonsending) func carryOut(
        _ plan: TakingBackPlan, _ request: TakingBackRequest, by caller: Caller,
        _ options: TakingBackOptions
    ) async throws -> (generation: Generation?, items: [TakingBackPlan.Item]) {
        var plan = plan
        for index in plan.items.indices
        where isLocked(plan.items[index].key, in: plan.items[index].domain) {
            plan.items[index].standing = .locked
        }
        if options.isDry { return (nil, plan.items) }
        if let key = request.key, plan.items.isEmpty, !plan.incomplete.isEmpty {
            throw ContractError(nothingKnownOf: key)
        }
        let chosen = plan.items.filter {
            $0.standing == .holds || $0.standing == .changed && options.isForced
        }
        if !options.isPartial { try checkWhole(plan, request, isForced: options.isForced) }
        let proposals = try proposals(for: chosen, origin: caller.origin)
        guard !proposals.isEmpty else { return (nil, plan.items) }
        var changing = ChangeOptions(isDurable: options.isDurable, isUndo: true)
        changing.takingBack = .init(
            references: plan.references, authors: plan.authors, isRedo: request.isRedo)
        let generation = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Generation, any Error>) in
            do {
                try change(proposals, by: caller, changing) { outcome in
                    continuation.resume(with: outcome.mapError { $0 as any Error })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        return (generation, plan.items)
    }

    /// Refuses a plan that cannot be carried out as a whole.
    private func checkWhole(
        _ plan: TakingBackPlan, _ request: TakingBackRequest, isForced: Bool
    ) throws {
        let locked = plan.items.filter { $0.standing == .locked }
        if !locked.isEmpty { throw ContractError(takingBackLocked: locked, on: hosts) }
        let changed = plan.items.filter { $0.standing == .changed }
        if !changed.isEmpty, !isForced {
            throw ContractError(takingBackChanged: changed, on: hosts)
        }
        // Of one key, the history has what was asked for, or nothing.
        if request.key == nil, let first = plan.incomplete.first {
            throw ContractError(incomplete: first.number, first.known, of: first.keys)
        }
    }

    private func proposals(
        for items: [TakingBackPlan.Item], origin: String
    ) throws -> [ChangeProposal] {
        var parts: [Domain: (set: [ChangeProposal.Assignment], removed: [Key])] = [:]
        for item in items {
            let now = try store.database.value(item.domain, item.key)
            if let archive = item.target {
                if now?.archive == archive { continue }
                parts[item.domain, default: ([], [])].set
                    .append(.init(key: item.key, archive: archive))
            } else if now != nil {
                parts[item.domain, default: ([], [])].removed.append(item.key)
            }
        }
        return parts.sorted { $0.key < $1.key }.map { domain, part in
            ChangeProposal(domain: domain, set: part.set, removed: part.removed, origin: origin)
        }
    }

    /// Whether no key of a plan has changed since it was made, and no action has gone on with others.
    private func isCurrent(_ plan: TakingBackPlan) throws -> Bool {
        if plan.references.contains(where: { history.hasGoneOn($0, since: plan.generation) }) {
            return false
        }
        for item in plan.items {
            let unchanged = Expectation.unchanged(item.key, since: plan.generation)
            let conflict = try store.database.firstConflict(of: [unchanged], in: item.domain)
            if conflict != nil { return false }
        }
        return true
    }

    private func isLocked(_ key: Key, in domain: Domain) -> Bool {
        (try? locks.isLocked(key, in: domain, shownBy: store.view)) ?? true
    }

    private nonisolated(nonsending) func flushForHistory() async throws {
        try checkNotEnding()
        switch await store.durability() {
        case .success: break
        case .failure(let error):
            throw ContractError(
                .storageFailed,
                "The history cannot be read, because changes cannot be written to disk. \(error)")
        }
        try checkNotEnding()
    }

    private var hosts: HostNames { store.hosts }
}

extension ContractError {
    fileprivate init(noAction number: UInt64) {
        self.init(
            .notFound,
            "The history has no action \(number). It may be too old; ListActions has those that are left."
        )
    }

    fileprivate init(nothingKnownOf key: Key) {
        self.init(
            .notFound,
            "The history does not have what \(key.name.quotedForMessage) had before.",
            .nothingChanged)
    }

    fileprivate init(futureGeneration generation: UInt64) {
        self.init(.invalidArguments, "There is no generation \(generation) yet.")
    }

    fileprivate init(_ obstacle: TakingBackObstacle) {
        switch obstacle {
        case .unknown(let number): self.init(noAction: number)
        case .lost(let number):
            self.init(
                .notFound,
                "Action \(number) is not there any more: a power cut, or an older copy of the database, has taken it away.",
                .nothingChanged)
        case .goneOn(let number):
            self.init(.conflict, "Action \(number) has gone on since.", .readAgain)
        case .notUndo(let number):
            self.init(
                .invalidArguments, "Action \(number) is not an undo. Undo takes it back.",
                .nothingChanged)
        }
    }

    fileprivate init(incomplete number: UInt64, _ known: Int, of keys: Int) {
        self.init(
            .notFound,
            """
            The history has \(known) of the \(counted(keys, "key")) that action \(number) changed. To \
            take back these, use the option partial. A backup may have the others.
            """, .nothingChanged)
    }

    fileprivate init(takingBackChanged items: [TakingBackPlan.Item], on hosts: HostNames) {
        self.init(
            .conflict,
            """
            Something else has changed \(Self.names(of: items, on: hosts)) since. To take back the \
            other keys, use the option partial; to overwrite these, too, the option force.
            """, .nothingChanged)
    }

    fileprivate init(takingBackLocked items: [TakingBackPlan.Item], on hosts: HostNames) {
        self.init(
            .locked,
            """
            The administrator has locked \(Self.names(of: items, on: hosts)). To take back the other \
            keys, use the option partial.
            """, .nothingChanged)
    }

    /// Some keys with their domains.
    private static func names(
        of items: [TakingBackPlan.Item], on hosts: HostNames
    ) -> String {
        let most = 5
        let some = items.prefix(most).map { "'\($0.key)' in \($0.domain.spelling(on: hosts))" }
        let rest = items.count - some.count
        return some.joined(separator: ", ")
            + (rest > 0 ? " and \(counted(rest, "other key"))" : "")
    }
}
