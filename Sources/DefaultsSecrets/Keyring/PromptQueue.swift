internal import DBus
internal import Synchronization

/// Asks the user one question at a time.
///
/// A call that may lead to a question waits for its turn, because one answer is often enough for all:
/// for example, if several secrets are read from a locked keyring. If the user refuses, the calls that
/// wait fail, too.
final class PromptQueue: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// How many calls wait for their turn.
    var count: Int { state.withLock { $0.waiting.count } }

    /// The result of a method that may have to ask the user.
    ///
    /// - Parameters:
    ///   - method: Makes the call.
    ///   - read: Reads the result of the prompt, if there is one.
    /// - Throws: `KeyringProblem.dismissed` if the user refused; `CancellationError` if the task is
    ///   cancelled, and the question with it.
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
                    // The handler below runs after this, or has run and cancelled the task.
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
