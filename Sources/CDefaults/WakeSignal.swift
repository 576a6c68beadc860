import Synchronization
import SystemCalls

// Invariants
//
// 1. If a `raise()` did not write, a scan after the next `lower()` finds everything that was added
//    before that `raise()`.
// 2. Nothing is written to a descriptor that the program has closed: see `WakeUp`.

/// A descriptor that is readable from `raise()` to `lower()`.
final class WakeSignal: Sendable {
    private let wakeUp: WakeUp
    /// Whether the descriptor is readable, so that many changes are one system call.
    private let isRaised = Atomic<Bool>(false)

    /// - Throws: ``CallError`` if the process has no descriptor left.
    init() throws(CallError) {
        wakeUp = try Self.opening { () throws(SystemError) in try WakeUp() }
    }

    private static func opening<Result>(
        _ body: () throws(SystemError) -> Result
    ) throws(CallError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw CallError(.system, "No descriptor can be opened: \(error.reason).")
        }
    }

    /// The descriptor, or another one if the program has closed it.
    ///
    /// - Throws: ``CallError`` if the process has no descriptor left.
    func descriptor() throws(CallError) -> Int32 {
        guard !wakeUp.isIntact else { return wakeUp.descriptor }
        try Self.opening { () throws(SystemError) in try wakeUp.renew() }
        if isRaised.load(ordering: .sequentiallyConsistent) { wakeUp.signal() }
        return wakeUp.descriptor
    }

    /// Makes it readable.
    func raise() {
        guard !isRaised.exchange(true, ordering: .sequentiallyConsistent) else { return }
        wakeUp.signal()
    }

    /// Makes it not readable, before what has happened is looked at.
    func lower() {
        wakeUp.clear()
        // In this order: a raise in between has nothing to write, and what it is for is seen.
        isRaised.store(false, ordering: .sequentiallyConsistent)
    }
}
