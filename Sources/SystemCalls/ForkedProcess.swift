internal import CLinux
internal import Glibc

// Invariants
//
// 1. The process that forks has one thread. So no lock is held in the child by a thread that it does
//    not have.
// 2. The child has no descriptor of its parent but the given one. It ends with its own work, and never
//    returns to that of its parent.

/// A child process that goes on with the program of its parent, in the same memory.
package enum ForkedProcess {
    /// Starts a child, while the process has one thread.
    ///
    /// Signals that end a service or come from a keyboard do not end the child. It ends when its work
    /// does.
    ///
    /// - Parameters:
    ///   - name: What the system calls it, of at most 15 bytes.
    ///   - descriptor: The one that it keeps.
    ///   - work: What it does.
    package static func start(
        named name: String, keeping descriptor: FileDescriptor,
        _ work: (FileDescriptor) -> Void
    ) throws(SystemError) {
        let process = clinux_fork()
        guard process >= 0 else { throw .last("fork", name) }
        guard process == 0 else { return }
        clinux_name_this_thread(name)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
        closeAll(but: descriptor.number)
        StandardDescriptors.fill()
        work(descriptor)
        // Nothing of the parent is written or removed, as exit(3) would do.
        _exit(0)
    }

    private static func closeAll(but kept: Int32) {
        let isBelow = kept == 0 || clinux_close_range(0, UInt32(kept) - 1) == 0
        if isBelow, clinux_close_range(UInt32(kept) + 1, .max) == 0 { return }
        // Linux before 5.9. A process that has just started has few descriptors.
        for number in 0..<Int32(1024) where number != kept { close(number) }
    }
}
