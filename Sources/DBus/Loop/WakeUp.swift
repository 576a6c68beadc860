import CLinux
import Glibc

/// An eventfd(2): a descriptor that one thread makes readable to wake another from poll(2).
struct WakeUp: Sendable {
    private let owned: FileDescriptor

    init() throws(DBusError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .systemCall("Making an eventfd", error: errno) }
        owned = FileDescriptor(owning: descriptor)
    }

    var descriptor: Int32 { owned.number }

    /// Makes the descriptor readable.
    ///
    /// It cannot fail: the counter is cleared at each wake-up, and far from full where it is not.
    func signal() {
        eventfd_write(owned.number, 1)
    }

    /// Makes the descriptor wait for the next signal.
    func clear() {
        var count = eventfd_t()
        eventfd_read(owned.number, &count)
    }
}
