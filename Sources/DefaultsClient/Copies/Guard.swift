import Synchronization

/// The one lock of a service's copies, and what is to be done when it is free again.
///
/// Whoever changes something under the lock may find that others are to be told: tasks that wait, or
/// closures of the application. They are called after it, on the same thread.
final class Guard: @unchecked Sendable {
    private let mutex = Mutex(())
    // Under the lock, as everything that it guards.
    private var deferred: [() -> Void] = []

    /// Calls a closure under the lock, which is held for a moment only, and never during a call of the
    /// application's code.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        var actions: [() -> Void] = []
        defer { for action in actions { action() } }
        return try mutex.withLock { _ in
            defer { if !deferred.isEmpty { swap(&actions, &deferred) } }
            return try body()
        }
    }

    /// Calls a closure under the lock that changes nothing of which others are told.
    func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
        try mutex.withLock { _ in try body() }
    }

    /// Has a closure called when the lock is free again; to be called under it.
    func whenFree(_ action: @escaping () -> Void) {
        deferred.append(action)
    }
}
