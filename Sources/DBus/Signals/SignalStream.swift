import Synchronization

/// A signal that was received.
package struct Signal: Sendable, Equatable {
    /// The unique name of who sent it, or that of the bus.
    package let sender: BusName?
    /// The object that sent it.
    package let path: ObjectPath
    /// The interface that declares it.
    package let interface: InterfaceName
    /// Its name.
    package let member: MemberName
    /// What it carries.
    package let arguments: [Value]

    /// The same signal with its arguments, which are read after the rest.
    func with(_ arguments: [Value]) -> Signal {
        Signal(
            sender: sender, path: path, interface: interface, member: member, arguments: arguments)
    }
}

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
/// The stream finishes when the connection ends or the consumer's task is cancelled. When the last
/// copy of the stream and its iterators is released, the bus is told that the signals are no longer
/// wanted.
package struct SignalStream: AsyncSequence, Sendable {
    /// What a stream brings.
    package enum Element: Sendable, Equatable {
        /// A signal that matches the rule.
        case signal(Signal)
        /// So many signals were lost here, because those before them had not been fetched or because
        /// a descriptor that they name cannot be had.
        case overflow(dropped: Int)
    }

    /// Fetches the elements of a stream, one after the other.
    package struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// The next element; nil at the end of the stream.
        package mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// The next element; nil at the end of the stream.
        package mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await subscription.buffer.next()
        }
    }

    let subscription: Subscription

    /// Begins to fetch the elements; a stream has one consumer.
    package func makeAsyncIterator() -> AsyncIterator {
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

// Invariants
//
// 1. No more than `limit` signals wait.
// 2. A loss is reported at its place in the order: after the signals that waited, before those that
//    came later.
// 3. The consumer that waits is resumed exactly once.

/// The signals that a stream's consumer has not fetched yet.
final class SignalBuffer: Sendable {
    fileprivate struct State {
        var elements: [SignalStream.Element] = []
        var signals = 0
        var consumer: CheckedContinuation<SignalStream.Element?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: How many signals may wait, at least one.
    init(limit: Int) {
        precondition(limit > 0, "A stream of signals needs room for one.")
        self.limit = limit
    }

    func add(_ signal: Signal) {
        hand { state in
            guard state.signals < limit else { return state.noteLoss() }
            state.elements.append(.signal(signal))
            state.signals += 1
        }
    }

    func addLoss() {
        hand { $0.noteLoss() }
    }

    /// Ends the stream after what waits in it.
    func finish() {
        hand { $0.isFinished = true }
    }

    /// Waits for the next element; nil at the end, or when the task is cancelled.
    func next() async -> SignalStream.Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                hand { state in
                    precondition(state.consumer == nil, "A stream of signals has one consumer.")
                    if Task.isCancelled { state.isFinished = true }
                    state.consumer = continuation
                }
            }
        } onCancel: {
            finish()
        }
    }

    /// Changes the state, and gives the consumer that waits what is there for it.
    private func hand(_ change: (inout State) -> Void) {
        let resumption = state.withLock { state in
            change(&state)
            return state.takeResumption()
        }
        resumption?()
    }
}

extension SignalBuffer.State {
    fileprivate mutating func noteLoss() {
        if case .overflow(let dropped) = elements.last {
            elements[elements.count - 1] = .overflow(dropped: dropped + 1)
        } else {
            elements.append(.overflow(dropped: 1))
        }
    }

    /// The consumer's resumption, to be called outside of the lock.
    fileprivate mutating func takeResumption() -> (@Sendable () -> Void)? {
        guard let waiting = consumer, !elements.isEmpty || isFinished else { return nil }
        consumer = nil
        let element = elements.isEmpty ? nil : elements.removeFirst()
        if case .signal = element { signals -= 1 }
        return { waiting.resume(returning: element) }
    }
}
