import Glibc

/// Which open file a number stands for.
///
/// A program may close descriptors that it has not opened, as daemons do when they begin, and open files
/// of its own under the same numbers. We must not read from these files, write to them, or close them. Each
/// socket and each pipe has an inode of its own, so the inode shows which one it is.
struct DescriptorIdentity: Sendable, Equatable {
    private let device: dev_t
    private let node: ino_t

    /// Nil if no file is open under the number.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        (device, node) = (status.st_dev, status.st_ino)
    }

    /// Whether the number still stands for the same file.
    ///
    /// True also if the system does not say.
    func isHeld(by descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return errno != EBADF }
        return (status.st_dev, status.st_ino) == (device, node)
    }
}
