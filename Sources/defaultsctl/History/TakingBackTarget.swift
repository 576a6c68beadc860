import DefaultsClient
import DefaultsProtocol

/// The actions that are taken back or done again, and which of their keys.
struct TakingBackTarget {
    /// Whether it is what an undo has taken back that is done again.
    let isRedo: Bool
    /// The newest first.
    let actions: [HistoryAction]
    let scope: HistoryScope
    /// Newer actions that are left as they are, the newest first.
    let passedOver: [HistoryAction]
    /// The time to which all goes back, in seconds since 1970; nil if it is single actions.
    let time: Int64?

    init(
        _ actions: [HistoryAction], in scope: HistoryScope = .everything,
        passing passedOver: [HistoryAction] = [], backTo time: Int64? = nil, isRedo: Bool = false
    ) {
        (self.actions, self.scope, self.passedOver) = (actions, scope, passedOver)
        (self.time, self.isRedo) = (time, isRedo)
    }

    /// The actions as they were shown.
    var references: [ActionReference] { actions.map { ActionReference($0) } }

    /// The same actions as the history has them now.
    func refreshed(by defaults: RemoteDefaults) async throws -> TakingBackTarget {
        var now: [HistoryAction] = []
        for action in actions { now.append(try await defaults.action(action.number).action) }
        return TakingBackTarget(now, in: scope, passing: passedOver, backTo: time, isRedo: isRedo)
    }
}

/// The search for what a command line means.
///
/// Invariants:
/// 1. What is found is a list of numbers. The newest action is not searched for again after it was shown.
/// 2. An undo and a redo only move between what other actions have made: they are taken back themselves with
///    all others since a time, and a redo by its number.
struct TargetSearch {
    let defaults: RemoteDefaults

    // MARK: Undo

    /// The newest action that was made by hand and is not taken back.
    func newestByHand() async throws -> TakingBackTarget {
        var passedOver: [HistoryAction] = []
        let found = try await first(HistoryQuery()) { action in
            if action.isUndone || action.kind.isMovement { return false }
            let standings = try await standings(of: action, in: .everything)
            // Of a part that was taken back, others have changed the rest.
            let isStuck = standings.contains(.undone) && !standings.contains(.holds)
            guard action.isByHand, !isStuck else {
                let isLiveAnswer = action.kind == .answer && standings.contains(.holds)
                passedOver += isLiveAnswer ? [action] : Self.named([action])
                return false
            }
            return standings.isAnythingLeft
        }
        guard let action = found.action else { throw NothingInHistory(reason: .nothingByHand) }
        return TakingBackTarget([action], passing: passedOver)
    }

    /// The newest action that has changed some keys and is not taken back.
    func newest(in scope: HistoryScope) async throws -> TakingBackTarget {
        let found = try await first(scope.query) { action in
            guard !action.isUndone, !action.kind.isMovement else { return false }
            return try await isLeft(action, in: scope)
        }
        guard let action = found.action else {
            throw try await nothing(in: scope, by: nil, found.knownFrom)
        }
        return TakingBackTarget([action], in: scope)
    }

    /// One action.
    func action(_ number: UInt64) async throws -> TakingBackTarget {
        let action = try await found(number)
        if action.kind == .undo { throw ToolError.isAnUndo(action) }
        if action.isUndone { throw ToolError.alreadyTakenBack(action) }
        guard try await isLeft(action, in: .everything) else { throw ToolError.nothingLeft(action) }
        return TakingBackTarget([action])
    }

    /// All actions since a time that have changed some keys.
    ///
    /// What was taken back or made again since then is among them, so that each key gets what it had then.
    func actions(
        since time: Int64, by program: String?, in scope: HistoryScope
    ) async throws -> TakingBackTarget {
        var query = scope.query
        (query.since, query.program) = (time, program)
        let (all, knownFrom) = try await list(query)
        // Without a program or a domain, it is what a person has done, as without a time.
        let isByHand = program == nil && scope.domain == nil
        let chosen = all.filter { $0.isByHand || $0.kind.isMovement || !isByHand }
        guard chosen.count <= TakingBackArguments.mostActions else {
            throw ToolError.tooManyActions(chosen.count, most: TakingBackArguments.mostActions)
        }
        let passedOver = isByHand ? Self.named(all.filter { !$0.isByHand }) : []
        guard !chosen.isEmpty else {
            guard passedOver.isEmpty else {
                throw NothingInHistory(reason: .onlyByPrograms(passedOver))
            }
            throw try await nothing(in: scope, by: program, knownFrom)
        }
        return TakingBackTarget(chosen, in: scope, passing: passedOver, backTo: time)
    }

    /// Why nothing is found: all of it is taken back, or there never was anything.
    private func nothing(
        in scope: HistoryScope, by program: String?, _ knownFrom: Int64
    ) async throws -> NothingInHistory {
        var query = scope.query
        (query.program, query.limit) = (program, 1)
        let isKnown = try await !defaults.actions(query).actions.isEmpty
        return NothingInHistory(
            reason: isKnown
                ? .nothingToUndo(scope, knownFrom) : .nothingKnown(scope, by: program, knownFrom))
    }

    /// The actions that are named if they are passed over: not those that are undone, or have only answered
    /// an undo.
    private static func named(_ actions: [HistoryAction]) -> [HistoryAction] {
        actions.filter { !$0.isUndone && !$0.kind.isMovement && $0.kind != .answer }
    }

    // MARK: Redo

    /// The newest undo that is not done again, if no action by hand came after it.
    func newestUndo() async throws -> TakingBackTarget {
        var (redone, later): (Set<UInt64>, HistoryAction?) = ([], nil)
        let found = try await first(HistoryQuery()) { action in
            if action.kind == .redo, !action.isUndone { redone.formUnion(action.references) }
            if action.isByHand, !action.isUndone, !action.kind.isMovement {
                later = later ?? action
            }
            return action.kind == .undo && !action.isUndone && !redone.contains(action.number)
        }
        guard let undo = found.action else { throw NothingInHistory(reason: .nothingToRedo) }
        if let later { throw ToolError.changedAfterUndo(undo, by: later) }
        return TakingBackTarget([undo], isRedo: true)
    }

    /// One undo.
    func undo(_ number: UInt64) async throws -> TakingBackTarget {
        let action = try await found(number)
        guard action.kind == .undo else {
            let undo = try await first(HistoryQuery()) { other in
                other.kind == .undo && !other.isUndone && other.references.contains(number)
            }
            throw ToolError.isNoUndo(action, takenBackBy: undo.action)
        }
        if action.isUndone { throw ToolError.alreadyRedone(action) }
        return TakingBackTarget([action], isRedo: true)
    }

    // MARK: Lists

    private func found(_ number: UInt64) async throws -> HistoryAction {
        do {
            return try await defaults.action(number).action
        } catch let error as DefaultsError where error.code == .notFound {
            throw ToolError.noAction(number)
        }
    }

    /// What would become of the keys of an action.
    private func standings(
        of action: HistoryAction, in scope: HistoryScope
    ) async throws -> Set<HistoryStanding> {
        let changes = try await defaults.action(action.number).changes
        // What the history has lost is reported, and not passed over.
        guard !changes.isEmpty else { return [.unknown] }
        return Set(changes.filter { scope.includes($0.key, in: $0.domain) }.map(\.standing))
    }

    /// Whether something of an action is not taken back yet.
    private func isLeft(_ action: HistoryAction, in scope: HistoryScope) async throws -> Bool {
        try await standings(of: action, in: scope).isAnythingLeft
    }

    /// The first action of a query that is meant.
    private func first(
        _ query: HistoryQuery, where isMeant: (HistoryAction) async throws -> Bool
    ) async throws -> (action: HistoryAction?, knownFrom: Int64) {
        var query = query
        // What is searched for is mostly among the newest.
        query.limit = 32
        while true {
            let page = try await defaults.actions(query)
            for action in page.actions where try await isMeant(action) {
                return (action, page.knownFrom)
            }
            guard let last = page.actions.last, page.actions.count >= query.limit else {
                return (nil, page.knownFrom)
            }
            query.before = last.number
            query.limit = HistoryListing.pageSize
        }
    }

    private func list(
        _ query: HistoryQuery
    ) async throws -> (actions: [HistoryAction], knownFrom: Int64) {
        var (query, actions): (HistoryQuery, [HistoryAction]) = (query, [])
        query.limit = HistoryListing.pageSize
        while true {
            let page = try await defaults.actions(query)
            actions += page.actions
            guard let last = page.actions.last, page.actions.count >= query.limit else {
                return (actions, page.knownFrom)
            }
            query.before = last.number
        }
    }
}

extension Set<HistoryStanding> {
    /// Whether a key is not as it was before the action.
    fileprivate var isAnythingLeft: Bool { !isSubset(of: [.void, .undone, .same]) }
}
