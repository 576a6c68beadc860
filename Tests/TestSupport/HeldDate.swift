import Synchronization

/// A date that stands still until a test moves it.
public final class HeldDate: Sendable {
    private let held: Mutex<Int>

    /// - Parameter seconds: In seconds since 1970; by default 2024-02-29 12:00:00 UTC.
    public init(_ seconds: Int = 1_709_208_000) { held = Mutex(seconds) }

    /// The date now, in seconds since 1970.
    public var seconds: Int {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    /// Moves it, forward or back.
    public func move(by duration: Duration) {
        held.withLock { $0 += Int(duration.components.seconds) }
    }
}
