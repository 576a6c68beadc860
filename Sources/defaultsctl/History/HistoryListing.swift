import DefaultsClient

/// The actions that a command line asks for, the newest first.
struct HistoryListing {
    private(set) var actions: [ShownAction] = []
    /// From when on the history is complete, in seconds since 1970.
    private(set) var knownFrom: Int64 = 0
    /// Whether older actions are left out because there are enough.
    private(set) var isCut = false

    /// Asks the service.
    ///
    /// - Parameters:
    ///   - query: Which actions; its limit is not used.
    ///   - scope: Which of their keys.
    ///   - limit: How many actions at most; nil for all.
    ///   - choice: What of them is shown.
    init(
        _ query: HistoryQuery, of scope: HistoryScope, atMost limit: Int?,
        choosing choice: HistoryChoice, asking defaults: RemoteDefaults
    ) async throws {
        var query = query
        while true {
            // One more shows if there are others.
            let isWhole = choice.text == nil && !choice.isByHand
            query.limit =
                isWhole
                ? min(Self.pageSize, limit.map { $0 - actions.count + 1 } ?? Self.pageSize)
                : Self.pageSize
            let page = try await defaults.actions(query)
            knownFrom = page.knownFrom
            for action in page.actions where choice.includes(action) {
                guard let shown = try await Self.shown(action, scope, choice, defaults) else {
                    continue
                }
                if let limit, actions.count >= limit {
                    isCut = true
                    return
                }
                actions.append(shown)
            }
            guard let last = page.actions.last, page.actions.count >= query.limit else { return }
            query.before = last.number
        }
    }

    /// The most actions that the service lists at once.
    static let pageSize = 1000

    private static func shown(
        _ action: HistoryAction, _ scope: HistoryScope, _ choice: HistoryChoice,
        _ defaults: RemoteDefaults
    ) async throws -> ShownAction? {
        do {
            // It may have gone on since it was listed.
            let (action, changes) = try await defaults.action(action.number)
            return ShownAction(action, changes, in: scope, choosing: choice)
        } catch let error as DefaultsError where error.code == .notFound {
            // Its time in the history ended meanwhile.
            return nil
        }
    }
}
