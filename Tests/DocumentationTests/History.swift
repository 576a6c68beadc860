import DefaultsClient
import KeyedArchive

// The code of the page about the history, so that it compiles.

private func show(_ value: Any) {}

private func takeBackNewest() async throws {
    let service = try await RemoteDefaults.connect()
    var query = HistoryQuery()
    query.domain = "org.example.Game"
    let actions = try await service.actions(query).actions
    if let newest = actions.first(where: { $0.isByHand && !$0.isUndone }) {
        try await service.undo([ActionReference(newest)])
    }
}

private func showPlan(of action: HistoryAction, _ service: RemoteDefaults) async throws {
    for key in try await service.undoPlan([ActionReference(action)]) {
        show("\(key.domain) \(key.key): \(key.standing.rawValue)")
    }
}

private func showEarlier(than action: HistoryAction, _ service: RemoteDefaults) async throws {
    let (_, changes) = try await service.action(action.number)
    for change in changes {
        if case .present(let archive) = change.was { show(archive) }
    }
}
