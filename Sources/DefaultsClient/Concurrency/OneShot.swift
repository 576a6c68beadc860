import DBus
import Synchronization

/// An outcome that comes once, and that one task waits for.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    /// Sets the outcome.
    ///
    /// A second one is ignored.
    func resume(_ outcome: Result<Value, any Error>) {
        let waiter = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Value, any Error>? }
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(with: outcome)
    }

    /// Waits for the outcome.
    ///
    /// - Throws: The error of the outcome, or `CancellationError`.
    func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            resume(.failure(CancellationError()))
        }
    }

    /// Waits for the outcome for a limited time.
    ///
    /// - Parameters:
    ///   - bound: The limit.
    ///   - start: When the time begins.
    ///   - loop: The loop that measures the time; nil for Swift's own timers, which stop if the
    ///     application has closed all descriptors.
    /// - Throws: The errors of ``value()``, and ``DefaultsError`` with `unreachable` after the time.
    func value(
        within bound: Duration, since start: ContinuousClock.Instant = .now, on loop: EventLoop?
    ) async throws -> Value {
        let timer = Alarm(after: start + bound - .now, on: loop) {
            self.resume(.failure(DefaultsError.noAnswer(after: bound)))
        }
        defer { timer.cancel() }
        return try await value()
    }
}

/// Calls a closure after a time, unless it is cancelled.
struct Alarm: Sendable {
    private enum Clock {
        case loop(EventLoop, LoopTimer)
        case task(Task<Void, any Error>)
    }

    /// A timer, used on the thread of its loop only.
    private final class LoopTimer: @unchecked Sendable {
        var timer: EventLoop.Timer?
        var isCancelled = false
    }

    private let clock: Clock

    /// - Parameters:
    ///   - delay: The time.
    ///   - loop: The loop that measures the time; nil for Swift's own timers.
    ///   - body: The closure.
    init(
        after delay: Duration, on loop: EventLoop?, _ body: @escaping @Sendable () -> Void
    ) {
        guard let loop else {
            clock = .task(
                Task {
                    try await Task.sleep(for: delay)
                    body()
                })
            return
        }
        let held = LoopTimer()
        clock = .loop(loop, held)
        loop.perform {
            if !held.isCancelled { held.timer = loop.schedule(after: max(delay, .zero), body) }
        }
    }

    func cancel() {
        switch clock {
        case .task(let task): task.cancel()
        case .loop(let loop, let held):
            loop.perform {
                held.isCancelled = true
                held.timer?.cancel()
                held.timer = nil
            }
        }
    }

    /// Waits for a time.
    static func pause(for delay: Duration, on loop: EventLoop?) async throws {
        let end = OneShot<Void>()
        let alarm = Alarm(after: delay, on: loop) { end.resume(.success(())) }
        defer { alarm.cancel() }
        try await end.value()
    }
}
