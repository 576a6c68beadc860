import Synchronization

/// Sends elements to all listeners, each of which keeps the newest ones that it has not fetched.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    /// How many elements are kept for a slow listener; older ones are dropped.
    private static var limit: Int { 256 }

    /// The elements that are sent from now on.
    ///
    /// - Parameter first: Gives the first element. No change is missed between it and the next one.
    func stream(startingWith first: () -> Element? = { nil }) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.limit)) { continuation in
            // Under the lock, so that no newer element comes before the first one.
            let number = state.withLock { state in
                state.lastNumber += 1
                state.listeners[state.lastNumber] = continuation
                if let first = first() { continuation.yield(first) }
                return state.lastNumber
            }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        }
    }

    /// - Returns: Whether anybody listens.
    @discardableResult
    func tell(_ element: Element) -> Bool {
        tell(newest: { element })
    }

    /// Sends what a closure returns, which is called when it is the turn of this element.
    ///
    /// - Returns: Whether anybody listens.
    @discardableResult
    func tell(newest element: () -> Element) -> Bool {
        state.withLock { state in
            guard !state.listeners.isEmpty else { return false }
            let element = element()
            for listener in state.listeners.values { listener.yield(element) }
            return true
        }
    }
}
