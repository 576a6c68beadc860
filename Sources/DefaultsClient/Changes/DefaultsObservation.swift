import Dispatch
import Synchronization

/// Calls a closure after each change of a value, until it is cancelled or has no reference any more.
///
/// ``Defaults/observe(_:_:)`` makes one.
public final class DefaultsObservation: Sendable {
    private struct State {
        /// The registration, and the closure; nil after the end.
        var feed: ChangeFeed?
        var report: (@Sendable (SeenChange) -> Void)?
        /// Whether a thread is calling the closure.
        var isCalling = false
        /// Whether there may be another change for that thread.
        var hasMore = false
    }

    private let state = Mutex(State())

    init(
        of names: Set<KeyName>, in store: Store,
        _ report: @escaping @Sendable (SeenChange) -> Void
    ) {
        let feed = ChangeFeed(of: names, in: store) { [weak self] in self?.noteChange(in: store) }
        state.withLock {
            $0.feed = feed
            $0.report = report
        }
        feed.begin()
    }

    /// Ends the observation.
    ///
    /// A call that another thread has begun may still go on.
    public func cancel() {
        // What they hold is released without the lock.
        let ended = state.withLock { state in
            defer { (state.feed, state.report) = (nil, nil) }
            return (state.feed, state.report)
        }
        withExtendedLifetime(ended) {}
    }

    private func noteChange(in store: Store) {
        // The loop's thread has to stay free: a large value is fetched with its help.
        guard store.isOnServiceThread else { return callForAll() }
        DispatchQueue.global().async { self.callForAll() }
    }

    /// Calls the closure for the changes that wait, one after the other.
    ///
    /// If another thread does that already, or the closure itself has made the change, the change is
    /// left to that call.
    private func callForAll() {
        guard mayBegin() else { return }
        repeat {
            while let (report, change) = next() { report(change) }
        } while goesOn()
    }

    private func next() -> (report: @Sendable (SeenChange) -> Void, change: SeenChange)? {
        let (feed, report) = state.withLock { ($0.feed, $0.report) }
        guard let report, let change = feed?.takeNext() else { return nil }
        return (report, change)
    }

    private func mayBegin() -> Bool {
        state.withLock { state in
            state.hasMore = state.isCalling
            defer { state.isCalling = true }
            return !state.isCalling
        }
    }

    /// Whether another change has come since the last one was taken.
    private func goesOn() -> Bool {
        state.withLock { state in
            state.isCalling = state.hasMore && state.feed != nil
            state.hasMore = false
            return state.isCalling
        }
    }
}

extension Defaults {
    /// Calls a closure after each change of a value, made by any process in any layer.
    ///
    /// Use it with toolkits that have callbacks. The closure is called on the thread that has made or
    /// noticed the change, so pass the value on to the toolkit's own thread:
    ///
    /// ```swift
    /// observation = defaults.observe(.volume) { change in
    ///     onMainLoop { slider.setValue(change.newValue) }
    /// }
    /// ```
    ///
    /// Calls do not overlap. While one is going on, only the newest change waits. As with
    /// ``changes(of:)-(DefaultsKey<Value>)``, a change that leaves the value the same is not reported.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - body: Called with each change. It may change values itself.
    /// - Returns: The observation. It ends with the last reference to it.
    public func observe<Value>(
        _ key: DefaultsKey<Value>, _ body: @escaping @Sendable (ValueChange<Value>) -> Void
    ) -> DefaultsObservation {
        DefaultsObservation(of: [key.id], in: store) { [store] seen in
            let (change, isNone) = store.values(of: seen, as: key)
            if !isNone { body(change) }
        }
    }
}
