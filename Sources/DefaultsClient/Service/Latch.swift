import Dispatch
import Synchronization

/// What a thread waits for that cannot wait as a task does.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Lets the one go on who waits; also where it only begins to wait then.
    @Sendable func open() {
        semaphore.signal()
    }

    /// Blocks the thread until the latch is open, though not for longer than a time.
    ///
    /// - Returns: Whether it is open.
    @discardableResult
    func wait(atMost bound: Duration) -> Bool {
        let (seconds, attoseconds) = max(bound, .zero).components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        return semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }
}

/// What an answer brought, for the thread that waits for it.
final class Answer<Value: Sendable>: Sendable {
    private let held = Mutex<Result<Value, any Error>?>(nil)

    var outcome: Result<Value, any Error>? { held.withLock { $0 } }

    func set(_ outcome: Result<Value, any Error>) {
        held.withLock { $0 = outcome }
    }
}
