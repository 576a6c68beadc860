import Glibc
import Synchronization

/// What is done when the program ends by returning from `main` or by `exit`.
enum AtExit {
    private static let actions = Mutex<[@Sendable () -> Void]>([])
    private static let registration: Void = {
        atexit { for action in AtExit.actions.withLock({ $0 }) { action() } }
    }()

    /// Has a closure called at the end, which must return within some seconds.
    static func call(_ action: @escaping @Sendable () -> Void) {
        _ = registration
        actions.withLock { $0.append(action) }
    }
}
