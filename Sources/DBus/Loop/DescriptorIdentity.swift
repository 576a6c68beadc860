import Glibc

/// Which open file a number stands for.
///
/// A program may close descriptors that it has not opened, as daemons do when they begin, and open files
/// of its own under the same numbers. Nothing of ours must be read from those, written to them, or closed.
/// Sockets and pipes each have an inode of their own, by which one is told from all others.
struct DescriptorIdentity: Sendable, Equatable {
    private let device: dev_t
    private let node: ino_t

    /// Nil where the number stands for nothing.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, node) = (status.st_dev, status.st_ino)
    }

    /// Whether the number still stands for the same file.
    ///
    /// Also where the system does not tell.
    func isHeld(by descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return errno != EBADF }
        return (status.st_dev, status.st_ino) == (device, node)
    }
}
