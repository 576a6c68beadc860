import Glibc
import Synchronization
import SystemCalls

/// Whether this process was forked from one that had a connection.
///
/// A child has only the thread that forked. The connection's thread does not exist, and locks may stay
/// locked for ever, so nothing here may be used.
enum Fork {
    private static let hasHappened = Atomic<Bool>(false)
    private static let hasWarned = Atomic<Bool>(false)

    static var isChild: Bool { hasHappened.load(ordering: .relaxed) }

    /// Registers the detection of a fork.
    ///
    /// Call it before there is a connection.
    static func watch() { _ = registration }

    private static let registration: Void = {
        pthread_atfork(nil, nil) { Fork.hasHappened.store(true, ordering: .relaxed) }
    }()

    /// Throws in a child.
    static func check() throws(DefaultsError) {
        if isChild { throw .forked }
    }

    /// Prints once on standard error that a child reads only the keys' defaults and that its changes
    /// are lost.
    static func warn() {
        guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
        StandardError.say(DefaultsError.forked.message, from: "defaults")
    }
}

/// Closures that are called when the program returns from `main` or calls `exit`.
enum AtExit {
    private static let actions = Mutex<[@Sendable () -> Void]>([])
    private static let registration: Void = {
        atexit { for action in AtExit.actions.withLock({ $0 }) { action() } }
    }()

    /// Adds a closure, which must return within some seconds.
    static func call(_ action: @escaping @Sendable () -> Void) {
        _ = registration
        actions.withLock { $0.append(action) }
    }
}
