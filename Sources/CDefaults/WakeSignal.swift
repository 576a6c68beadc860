import CLinux
import Glibc
import Synchronization

// Invariant: if a `raise()` did not write, a scan after the next `lower()` finds everything that was added
// before that `raise()`.

/// A descriptor that is readable from `raise()` to `lower()`.
final class WakeSignal: Sendable {
    let descriptor: Int32
    /// Whether the descriptor is readable, so that many changes are one system call.
    private let isRaised = Atomic<Bool>(false)

    /// - Throws: ``CallError`` if the process has no descriptor left.
    init() throws(CallError) {
        descriptor = clinux_make_event()
        guard descriptor >= 0 else {
            throw CallError(
                .system, "No descriptor can be opened: \(String(cString: strerror(errno))).")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Makes it readable.
    func raise() {
        guard !isRaised.exchange(true, ordering: .sequentiallyConsistent) else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes it not readable, before what has happened is looked at.
    func lower() {
        var count: UInt64 = 0
        _ = Glibc.read(descriptor, &count, 8)
        // In this order: a raise in between has nothing to write, and what it is for is seen.
        isRaised.store(false, ordering: .sequentiallyConsistent)
    }
}
