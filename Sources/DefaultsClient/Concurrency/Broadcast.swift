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
    /// - Parameter first: Gives the first element. It is called after the listener is known, so no change
    ///   is missed between the two.
    func stream(startingWith first: () -> Element? = { nil }) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.limit)) { continuation in
            let number = state.withLock { state in
                state.lastNumber += 1
                state.listeners[state.lastNumber] = continuation
                return state.lastNumber
            }
            if let first = first() { continuation.yield(first) }
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        }
    }

    /// - Returns: Whether anybody listens.
    @discardableResult
    func tell(_ element: Element) -> Bool {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.yield(element) }
        return !listeners.isEmpty
    }
}
