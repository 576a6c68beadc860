internal import DBus

/// Questions to the user.
///
/// https://specifications.freedesktop.org/secret-service/latest/prompts.html
extension KeyringSession {
    /// How a question came to its end.
    private enum End: Sendable {
        case completed([Value])
        /// The service has left the bus, or the connection has ended.
        case lost
    }

    /// Shows a prompt, and waits for the user as long as it takes.
    ///
    /// - Returns: The result of the method that gave the prompt.
    /// - Throws: `KeyringProblem.dismissed` where the user said no; `DBusError` of the name `NoReply`
    ///   where the service ends meanwhile; `CancellationError` where the task is cancelled, and the
    ///   prompt is dismissed then, where it can be.
    func ask(_ prompt: ObjectPath) async throws -> Value {
        do {
            let end = try await showing(prompt)
            try Task.checkCancellation()
            guard case .completed(let arguments) = end else {
                throw DBusError(.noReply, "The service of secrets ended before the user answered.")
            }
            guard arguments.count == 2, case .boolean(let isDismissed) = arguments[0],
                case .variant(let result) = arguments[1]
            else {
                throw KeyringProblem.badReply("a prompt's end without its two values")
            }
            if isDismissed { throw KeyringProblem.dismissed }
            return result
        } catch is CancellationError {
            // In a task of its own, as this one can call nobody any more. Nothing waits for it.
            if Self.canBeDismissed(prompt) { Task { try? await dismiss(prompt) } }
            throw CancellationError()
        }
    }

    /// Whether the service survives that a prompt is dismissed while the user looks at it.
    ///
    /// gnome-keyring aborts where that is one of its prompts for unlocking, and with it goes what it
    /// has unlocked and what other apps keep in its session; at least 42.1 does, by the assertion
    /// `!self->current` of `perform_next_unlock`. By their names they are known. Such a question stays
    /// until the user answers it, and nobody takes the answer.
    private static func canBeDismissed(_ prompt: ObjectPath) -> Bool {
        !prompt.string.hasPrefix("/org/freedesktop/secrets/prompt/u")
    }

    private func showing(_ prompt: ObjectPath) async throws -> End {
        let ends = try await line.connection.signals(
            MatchRule(
                sender: Self.service, path: prompt, interface: "org.freedesktop.Secret.Prompt",
                member: "Completed"),
            limit: 1)
        let departures = try await line.connection.ownerChanges(of: Self.service, limit: 1)
        try await show(prompt)
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await element in ends {
                    if case .signal(let signal) = element { return .completed(signal.arguments) }
                }
                return .lost
            }
            group.addTask {
                for await _ in departures { break }
                return .lost
            }
            let end = await group.next()
            group.cancelAll()
            return end ?? .lost
        }
    }
}
