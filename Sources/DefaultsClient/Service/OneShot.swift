import Synchronization

/// An outcome that one task waits for, and that comes once.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    /// Gives the outcome; a second one is dropped.
    func resume(_ outcome: Result<Value, any Error>) {
        let waiter = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Value, any Error>? }
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: outcome)
    }

    /// Waits for the outcome.
    ///
    /// - Throws: That of the outcome, or `CancellationError`.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            resume(.failure(CancellationError()))
        }
    }

    /// Waits for the outcome, though not for longer than a time, which begins now unless told otherwise.
    ///
    /// - Throws: As ``value()``, and ``ClientError`` with `unreachable` when the time is over.
    func value(
        within bound: Duration, since start: ContinuousClock.Instant = .now
    ) async throws -> Value {
        let timer = Task {
            try await Task.sleep(until: start + bound, clock: .continuous)
            resume(.failure(ClientError.noAnswer(after: bound)))
        }
        defer { timer.cancel() }
        return try await value()
    }
}
