import DefaultsProtocol

/// The history, for libraries of other languages.
extension NamedDefaults {
    /// How long the changes of this process, and then the service, may take.
    private static let historyPatience = Duration.seconds(30)

    /// The actions that a query means, the newest first, and the time from which on the history is complete.
    ///
    /// - Throws: ``DefaultsError``, with `refused` if the service has no history.
    package func actions(
        _ query: HistoryQuery
    ) throws(DefaultsError) -> (actions: [HistoryAction], knownFrom: Int64) {
        let reply = try ask(Contract.ListActions.self, HistoryFilter(query))
        return (reply.actions.map(HistoryAction.init), reply.knownFrom)
    }

    /// The keys that an action has changed.
    ///
    /// - Throws: ``DefaultsError`` with `notFound` if the history does not have the action.
    package func changes(of number: UInt64) throws(DefaultsError) -> [HistoryChange] {
        let reply = try ask(Contract.GetAction.self, number)
        return try reading { try reply.changes.map(HistoryChange.init) }
    }

    /// The value that a key had after a change, or at a time.
    ///
    /// - Parameters:
    ///   - domain: The domain, with the suffix of its layer.
    ///   - generation: The generation of the change; 0 for the time.
    ///   - time: The time, in seconds since 1970.
    package func value(
        of key: String, in domain: String, atGeneration generation: UInt64, time: Int64 = 0
    ) throws(DefaultsError) -> HistoryValue {
        let reply = try ask(Contract.GetAt.self, (domain, [key], generation, time))
        guard let found = reply.values.first else { return .unknown }
        return try reading { try HistoryValue(found.value) }
    }

    /// Takes actions back.
    ///
    /// - Returns: The generation of the change, which is 0 if nothing was changed, and what has become of
    ///   each key.
    /// - Throws: The errors of ``RemoteDefaults/undo(_:_:)``.
    package func undo(
        _ actions: [ActionReference], _ options: TakingBackOptions, isDry: Bool
    ) throws(DefaultsError) -> (generation: UInt64, keys: [TakenBackKey]) {
        try takeBack(Contract.Undo.self, actions, options, isDry: isDry)
    }

    /// Does again what undo actions have taken back.
    ///
    /// - Returns: What ``undo(_:_:isDry:)`` returns.
    /// - Throws: The errors of ``RemoteDefaults/undo(_:_:)``.
    package func redo(
        _ actions: [ActionReference], _ options: TakingBackOptions, isDry: Bool
    ) throws(DefaultsError) -> (generation: UInt64, keys: [TakenBackKey]) {
        try takeBack(Contract.Redo.self, actions, options, isDry: isDry)
    }

    private func takeBack<Method: TakingBackCall>(
        _ method: Method.Type, _ actions: [ActionReference], _ options: TakingBackOptions,
        isDry: Bool
    ) throws(DefaultsError) -> (generation: UInt64, keys: [TakenBackKey]) {
        let arguments = TakingBackArguments(actions, options, isDry: isDry)
        let reply = try ask(method, arguments, isChange: !isDry)
        return (reply.generation, try reading { try reply.changes.map(TakenBackKey.init) })
    }

    /// Makes a call after the changes of this process.
    private func ask<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool = false
    ) throws(DefaultsError) -> C.Reply {
        try checkReachable()
        return try waiting {
            try await store.waitForAnswers(within: Self.historyPatience)
            return try await store.service.askHistory(
                method, arguments, isChange: isChange, within: Self.historyPatience)
        }
    }

    /// Reads archives that the service has sent.
    private func reading<Value>(_ body: () throws -> Value) throws(DefaultsError) -> Value {
        do {
            return try body()
        } catch {
            throw DefaultsError(.refused, "The history has a damaged archive: \(error)")
        }
    }
}
