internal import Synchronization

/// Waiting for changes.
extension SecretStore {
    /// Suspends the task until somebody resumes the continuation, or it is cancelled.
    func wait(
        _ body: (inout State, _ number: UInt64, CheckedContinuation<Void, any Error>) -> Void
    ) async throws {
        let number = state.withLock { $0.makeNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // The handler below comes after this, or has come before and said so.
                    guard !Task.isCancelled else {
                        return continuation.resume(throwing: CancellationError())
                    }
                    body(&state, number, continuation)
                }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Ends the waiting of one task, and the change that was its alone.
    private func leave(_ number: UInt64) {
        let resumed: [SecretChange.Waiter] = state.withLock { state in
            for key in Array(state.entries.keys) {
                guard let waiter = state.entries[key]?.takeWaiter(number) else { continue }
                if state.current?.key == key, state.entries[key]?.sent?.isWanted == false {
                    state.current?.work.cancel()
                }
                let others = state.entries[key]?.dropUnwanted() ?? []
                if state.entries[key]?.waiting == nil { state.queue.removeAll { $0 == key } }
                for other in others { other.continuation.resume() }
                return [waiter]
            }
            return []
        }
        for waiter in resumed { waiter.continuation.resume(throwing: CancellationError()) }
    }
}

extension SecretEntry {
    fileprivate mutating func takeWaiter(_ number: UInt64) -> SecretChange.Waiter? {
        if let index = waiting?.waiters.firstIndex(where: { $0.number == number }) {
            return waiting?.waiters.remove(at: index)
        }
        if let index = sent?.waiters.firstIndex(where: { $0.number == number }) {
            return sent?.waiters.remove(at: index)
        }
        return nil
    }
}
