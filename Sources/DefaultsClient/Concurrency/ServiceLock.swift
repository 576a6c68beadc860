import Synchronization

/// The lock of a service, which protects its copies and everything that stores and batches keep.
///
/// It is held for moments only, and never during a call of the application's code. State that it protects
/// is in a ``Guarded``, which only an access opens. An access cannot be copied or kept, so the compiler
/// sees to it that the lock is held.
final class ServiceLock: Sendable {
    private let mutex = Mutex(())
    private let deferred = Guarded<[@Sendable () -> Void]>([])

    /// Calls a closure that reads under the lock.
    func read<Result, Failure>(
        _ body: (borrowing ReadAccess) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { _ throws(Failure) in try body(ReadAccess()) }
    }

    /// Calls a closure that reads and changes under the lock, and then what it has deferred.
    func change<Result, Failure>(
        _ body: (borrowing WriteAccess) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var actions: [@Sendable () -> Void] = []
        defer { for action in actions { action() } }
        return try mutex.withLock { _ throws(Failure) in
            defer { if !deferred.state.isEmpty { swap(&actions, &deferred.state) } }
            return try body(WriteAccess(deferred))
        }
    }
}

/// The right to read what a lock protects: the calling thread holds the lock.
struct ReadAccess: ~Copyable {
    fileprivate init() {}

    subscript<State: ~Copyable>(guarded: Guarded<State>) -> State {
        _read { yield guarded.state }
    }
}

/// The right to read and change what a lock protects: the calling thread holds the lock.
struct WriteAccess: ~Copyable {
    /// The same for functions that only read.
    let read = ReadAccess()
    private let deferred: Guarded<[@Sendable () -> Void]>

    fileprivate init(_ deferred: Guarded<[@Sendable () -> Void]>) {
        self.deferred = deferred
    }

    subscript<State: ~Copyable>(guarded: Guarded<State>) -> State {
        _read { yield guarded.state }
        nonmutating _modify { yield &guarded.state }
    }

    /// Defers a call until the lock is free, on the same thread.
    ///
    /// It wakes a task that waits, or calls the application.
    func whenFree(_ action: @escaping @Sendable () -> Void) {
        deferred.state.append(action)
    }
}

/// State that a ``ServiceLock`` protects; the holder of the lock reads it as `access[state]`.
///
/// It belongs to one lock. The compiler does not know which, so nothing refers to two services.
final class Guarded<State: ~Copyable & Sendable>: @unchecked Sendable {
    // Not a stored property: the lock excludes conflicting accesses already, and Swift would check
    // each one again.
    private let address: UnsafeMutablePointer<State>

    init(_ state: consuming State) {
        address = .allocate(capacity: 1)
        address.initialize(to: state)
    }

    deinit {
        address.deinitialize(count: 1)
        address.deallocate()
    }

    fileprivate var state: State {
        _read { yield address.pointee }
        _modify { yield &address.pointee }
    }
}
