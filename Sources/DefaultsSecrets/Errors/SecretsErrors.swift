internal import Synchronization

/// The errors of changes that were stored in the background, as they happen.
///
/// ```swift
/// Task {
///     for await error in secrets.errors { show(error.message) }
/// }
/// ```
///
/// Each iterator gets every error from its start on; the first also those that nobody was there for.
/// So many as wait to be fetched are kept: the newest 64. The sequence ends with the task.
public struct SecretsErrors: AsyncSequence, Sendable {
    /// Fetches the errors, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: AsyncStream<SecretsError>.Iterator

        /// The next error; nil when the task is cancelled.
        public mutating func next() async -> SecretsError? {
            await iterator.next()
        }

        /// The next error; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SecretsError? {
            await iterator.next(isolation: actor)
        }
    }

    let feed: SecretsErrorFeed
    /// The key whose errors these are; nil for those of all.
    let key: String?

    /// Begins to fetch the errors.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: feed.subscribe(to: key).makeAsyncIterator())
    }
}

/// Who wants to know of errors, and the errors that nobody was there for.
final class SecretsErrorFeed: Sendable {
    private static let limit = 64

    private struct State {
        var untold: [SecretsError] = []
        var lastNumber = 0
        var subscribers: [Int: Subscriber] = [:]
    }

    private struct Subscriber {
        let key: String?
        let continuation: AsyncStream<SecretsError>.Continuation

        func wants(_ error: SecretsError) -> Bool { key == nil || key == error.key }
    }

    private let state = Mutex(State())

    func report(_ error: SecretsError) {
        state.withLock { state in
            let interested = state.subscribers.values.filter { $0.wants(error) }
            for subscriber in interested { subscriber.continuation.yield(error) }
            guard interested.isEmpty else { return }
            if state.untold.count == Self.limit { state.untold.removeFirst() }
            state.untold.append(error)
        }
    }

    func subscribe(to key: String?) -> AsyncStream<SecretsError> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SecretsError.self, bufferingPolicy: .bufferingNewest(Self.limit))
        let subscriber = Subscriber(key: key, continuation: continuation)
        let number = state.withLock { state in
            state.lastNumber += 1
            for error in state.untold where subscriber.wants(error) { continuation.yield(error) }
            state.untold.removeAll { subscriber.wants($0) }
            state.subscribers[state.lastNumber] = subscriber
            return state.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.subscribers[number] = nil }
        }
        return stream
    }
}
