/// Signals as they come, for one consumer.
///
/// ```swift
/// for await element in try await connection.signals(rule, limit: 64) {
///     switch element {
///     case .signal(let signal): show(signal)
///     case .overflow: readEverythingAgain()
///     }
/// }
/// ```
///
/// The stream finishes when the connection ends or the consumer's task is cancelled. The bus is told
/// that the signals are not wanted any more when the last copy of the stream and its iterators is
/// let go of.
public struct SignalStream: AsyncSequence, Sendable {
    /// What a stream brings.
    public enum Element: Sendable, Equatable {
        /// A signal that matches the rule.
        case signal(Signal)
        /// So many signals were lost here, because those before them had not been fetched or because
        /// a descriptor that they name cannot be had.
        case overflow(dropped: Int)
    }

    /// Fetches the elements of a stream, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next element; nil at the end of the stream.
        public mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// The next element; nil at the end of the stream.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.buffer.next()
        }
    }

    let subscription: Subscription

    /// Begins to fetch the elements; a stream has one consumer.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription)
    }
}

/// What keeps a stream's signals coming; the end of the last reference ends them.
final class Subscription: Sendable {
    let buffer: SignalBuffer
    private let connection: Connection
    private let number: UInt64

    init(_ number: UInt64, buffer: SignalBuffer, on connection: Connection) {
        self.number = number
        self.buffer = buffer
        self.connection = connection
    }

    deinit {
        // This may be any thread.
        connection.loop.perform { [connection, number] in
            connection.assumeIsolated { $0.unsubscribe(number) }
        }
    }
}
