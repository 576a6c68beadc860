import Synchronization

/// Gives tasks turns, one after the other, in the order in which they come.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [OneShot<Void>] = []
    }

    private let state = Mutex(State())

    /// Waits for the caller's turn, which lasts until ``end()``.
    ///
    /// - Throws: `CancellationError`; the caller has no turn then.
    func begin() async throws {
        let turn = OneShot<Void>()
        let mustWait = state.withLock { state in
            defer { state.isTaken = true }
            if state.isTaken { state.waiting.append(turn) }
            return state.isTaken
        }
        guard mustWait else { return }
        do {
            try await turn.value()
        } catch {
            let isWaiting = state.withLock { state in
                let place = state.waiting.firstIndex { $0 === turn }
                return place.map { state.waiting.remove(at: $0) } != nil
            }
            // The turn came at the same moment, so it is passed on.
            if !isWaiting { end() }
            throw error
        }
    }

    /// Begins the next turn.
    func end() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil as OneShot<Void>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume(.success(()))
    }
}
