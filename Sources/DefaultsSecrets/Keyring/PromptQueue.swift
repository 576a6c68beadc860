internal import DBus
internal import Synchronization

/// Asks the user one question at a time.
///
/// What may lead to a question waits for its turn: often the answer to the first is that to all, as
/// where several secrets are read from a locked keyring. Whoever waits while the user says no is
/// answered by that, too.
final class PromptQueue: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// How many wait for their turn.
    var count: Int { state.withLock { $0.waiting.count } }

    /// The result of a method that may have to ask the user.
    ///
    /// - Parameters:
    ///   - method: Makes the call.
    ///   - read: Reads the result where it is a prompt that gives it.
    /// - Throws: `KeyringProblem.dismissed` where the user said no; `CancellationError` where the task
    ///   is cancelled, and the question with it.
    func result<Result: Sendable>(
        of session: KeyringSession,
        _ method: @Sendable () async throws -> KeyringSession.Answer<Result>,
        read: (Value) throws -> Result
    ) async throws -> Result {
        try await takeTurn()
        do {
            let result: Result
            switch try await method() {
            case .result(let known): result = known
            case .prompt(let prompt): result = try read(try await session.ask(prompt))
            }
            endTurn()
            return result
        } catch KeyringProblem.dismissed {
            endTurn(refusingOthers: true)
            throw KeyringProblem.dismissed
        } catch {
            endTurn()
            throw error
        }
    }

    private func takeTurn() async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    // The handler below comes after this, or has come before and said so.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.isTaken else {
                        state.isTaken = true
                        return .success(())
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let left = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map {
                    state.waiting.remove(at: $0)
                }
            }
            left?.continuation.resume(throwing: CancellationError())
        }
    }

    private func endTurn(refusingOthers: Bool = false) {
        let (next, refused) = state.withLock { state in
            let refused = refusingOthers ? state.waiting : []
            if refusingOthers { state.waiting = [] }
            state.isTaken = !state.waiting.isEmpty
            return (state.isTaken ? state.waiting.removeFirst() : nil, refused)
        }
        for one in refused { one.continuation.resume(throwing: KeyringProblem.dismissed) }
        next?.continuation.resume()
    }
}
