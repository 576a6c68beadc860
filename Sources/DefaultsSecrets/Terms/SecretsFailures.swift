internal import Synchronization
internal import SystemCalls

/// Gives failures of changes in the background to listeners, and prints them on standard error if there
/// is none.
final class SecretsFailures: Sendable {
    /// How many failures are kept for a slow listener, and how many different lines are printed.
    private static let limit = 256

    private struct Listener {
        /// The key that it listens to; nil for all.
        let key: String?
        let continuation: AsyncStream<SecretsError>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var lastNumber = 0
        /// The lines that were printed, so that none is printed twice.
        var written: Set<String> = []
    }

    private let state = Mutex(State())

    func report(_ error: SecretsError) {
        let isNewLine = state.withLock { state in
            let listeners = state.listeners.values.filter { $0.key == nil || $0.key == error.key }
            for listener in listeners { listener.continuation.yield(error) }
            return listeners.isEmpty && state.written.count < Self.limit
                && state.written.insert(error.message).inserted
        }
        if isNewLine { StandardError.say(error.message, from: "secrets") }
    }

    /// The failures from now on, of one key or of all.
    func stream(of key: String? = nil) -> AsyncStream<SecretsError> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SecretsError.self, bufferingPolicy: .bufferingNewest(Self.limit))
        let number = state.withLock { state in
            state.lastNumber += 1
            state.listeners[state.lastNumber] = Listener(key: key, continuation: continuation)
            return state.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[number] = nil }
        }
        return stream
    }
}
