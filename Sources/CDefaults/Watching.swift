import DefaultsClient
import Glibc
import Synchronization

/// The watches of a handle, and the descriptor that says when to dispatch.
final class Watches: Sendable {
    private struct State {
        var signal: WakeSignal?
        var watches: [UInt32: Watch] = [:]
        var lastNumber: UInt32 = 0
        /// The thread that dispatches.
        var dispatcher: pthread_t?
        var isClosed = false
    }

    private let state = Mutex(State())
    /// How many functions are called in one go; each watch has its share.
    private static var mostCalls: Int { 1024 }

    /// The descriptor, which the first use opens.
    func signal() throws(CallError) -> WakeSignal {
        try state.withLock { state throws(CallError) in
            if let signal = state.signal { return signal }
            let signal = try WakeSignal()
            state.signal = signal
            return signal
        }
    }

    /// Adds a watch, and gives its number.
    func add(_ watch: Watch) throws(CallError) -> UInt32 {
        try state.withLock { state throws(CallError) in
            guard state.lastNumber < .max else {
                throw CallError(.system, "The handle has had too many watches.")
            }
            state.lastNumber += 1
            state.watches[state.lastNumber] = watch
            // A dispatch on another thread may have lowered the signal before the watch was here.
            if watch.waiting > 0 { state.signal?.raise() }
            return state.lastNumber
        }
    }

    func remove(_ number: UInt32) throws(CallError) {
        guard let watch = state.withLock({ $0.watches.removeValue(forKey: number) }) else {
            throw CallError(.notFound, "There is no watch \(number).")
        }
        watch.end()
    }

    /// Ends all watches; a dispatch that goes on calls no more functions.
    func close() {
        let watches = state.withLock { state in
            state.isClosed = true
            defer {
                state.watches = [:]
                state.signal = nil
            }
            return state.watches
        }
        for watch in watches.values { watch.end() }
    }

    // MARK: Dispatching

    /// Calls the functions for what has happened.
    func dispatch(_ defaults: OpaquePointer) throws(CallError) {
        guard let signal = try begin() else { return }
        defer { state.withLock { $0.dispatcher = nil } }
        signal.lower()
        let numbers = state.withLock { $0.watches.keys.sorted() }
        let share = max(1, Self.mostCalls / max(1, numbers.count))
        for number in numbers { callShare(share, of: number, defaults) }
        // What is left comes with the next dispatch, so that others of the main loop have their turn.
        let watches = state.withLock { $0.watches.values.map { $0 } }
        if watches.contains(where: { $0.waiting > 0 }) { signal.raise() }
    }

    /// Calls the function of a watch for what waits now, and not for what its calls cause.
    private func callShare(_ share: Int, of number: UInt32, _ defaults: OpaquePointer) {
        guard let waiting = state.withLock({ $0.watches[number] })?.waiting else { return }
        for _ in 0..<min(share, waiting) {
            guard let watch = state.withLock({ $0.watches[number] }), watch.callNext(defaults)
            else { return }
        }
    }

    /// - Returns: Nil if there is nothing to do, or another thread does it.
    private func begin() throws(CallError) -> WakeSignal? {
        try state.withLock { state throws(CallError) in
            let thread = pthread_self()
            if let dispatcher = state.dispatcher {
                guard pthread_equal(dispatcher, thread) == 0 else {
                    // A main loop inside the callback would call again and again. The dispatch that goes
                    // on raises it at its end if something waits.
                    state.signal?.lower()
                    throw CallError(
                        .busy, "A callback has called defaults_dispatch() of its own handle.")
                }
                return nil
            }
            guard let signal = state.signal else { return nil }
            state.dispatcher = thread
            return signal
        }
    }
}

/// `defaults_watch` of defaults.h.
@_cdecl("defaults_watch")
public func watch(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?,
    _ changed: (
        @Sendable @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UInt32, UnsafeMutableRawPointer?
        ) -> Void
    )?,
    _ context: UnsafeMutableRawPointer?,
    _ freeContext: (@Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> UInt32 {
    result {
        let handle = try handle(defaults)
        guard let changed else { throw CallError.null("changed") }
        let key = try key.map { try keyName($0) }
        let signal = try handle.watches.signal()
        let changes = PolledChanges(of: key, in: handle.named) { signal.raise() }
        return try handle.watches.add(
            Watch(
                .changes(changes, changed), Watch.Context(pointer: context, free: freeContext)))
    } ?? 0
}

/// `defaults_watch_failures` of defaults.h.
@_cdecl("defaults_watch_failures")
public func watchFailures(
    _ defaults: OpaquePointer?,
    _ failed: (
        @Sendable @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?,
            UnsafeMutableRawPointer?
        ) -> Void
    )?,
    _ context: UnsafeMutableRawPointer?,
    _ freeContext: (@Sendable @convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> UInt32 {
    result {
        let handle = try handle(defaults)
        guard let failed else { throw CallError.null("failed") }
        let signal = try handle.watches.signal()
        let queue = FailureQueue(of: handle.named.defaults, signal)
        return try handle.watches.add(
            Watch(.failures(queue, failed), Watch.Context(pointer: context, free: freeContext)))
    } ?? 0
}

/// `defaults_unwatch` of defaults.h.
@_cdecl("defaults_unwatch")
public func unwatch(_ defaults: OpaquePointer?, _ watch: UInt32) -> Int32 {
    code { try handle(defaults).watches.remove(watch) }
}

/// `defaults_fd` of defaults.h.
@_cdecl("defaults_fd")
public func descriptor(_ defaults: OpaquePointer?) -> Int32 {
    result { try handle(defaults).watches.signal().descriptor() } ?? -1
}

/// `defaults_dispatch` of defaults.h.
@_cdecl("defaults_dispatch")
public func dispatch(_ defaults: OpaquePointer?) -> Int32 {
    code {
        let handle = try handle(defaults)
        guard let defaults else { return }
        try handle.watches.dispatch(defaults)
    }
}
