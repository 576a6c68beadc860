import Synchronization

// Invariants
//
// 1. No more than `limit` signals wait.
// 2. What is lost is told of at the place where it is missing: between the signals that waited and
//    those that came after.
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
