import CLinux
import Glibc

/// Where a process lives: its root directory, its users and its mounts.
///
/// A sandbox differs from its host in at least one of them.
public struct ProcessPlace: Sendable, Hashable {
    private let root: Identity
    private let userNamespace: Identity
    private let mountNamespace: Identity

    /// The place of this process; nil without `/proc`.
    public static let own = ProcessPlace(at: "/proc/self")

    /// What tells a file from every other one.
    private struct Identity: Hashable {
        let device: UInt64
        let node: UInt64
    }

    /// Looks at a process by its number.
    ///
    /// A process can end, and another one get its number. A reference (see pidfd_open(2)) always means
    /// the same process. If that one is alive after the look, the number was its number during the
    /// look.
    ///
    /// - Parameter reference: The process that is meant; nil for the one that has the number now.
    /// - Returns: Nil if the process has ended, or cannot be looked at.
    init?(ofProcess number: UInt32, reference: FileDescriptor?) {
        guard let number = Int32(exactly: number),
            let reference = reference ?? Self.reference(to: number),
            let place = ProcessPlace(at: "/proc/\(number)"), Self.isAlive(reference)
        else { return nil }
        self = place
    }

    private init?(at path: String) {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        defer { close(directory) }
        guard let root = Self.identity("root/", in: directory),
            let userNamespace = Self.identity("ns/user", in: directory),
            let mountNamespace = Self.identity("ns/mnt", in: directory)
        else { return nil }
        (self.root, self.userNamespace, self.mountNamespace) = (root, userNamespace, mountNamespace)
    }

    private static func identity(_ name: String, in directory: Int32) -> Identity? {
        var status = stat()
        guard fstatat(directory, name, &status, 0) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), node: UInt64(status.st_ino))
    }

    /// A reference to the process that has a number now; nil if there is none.
    static func reference(to number: Int32) -> FileDescriptor? {
        let descriptor = clinux_open_process(number)
        return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
    }

    /// Whether a process has not ended: its reference is readable from then on.
    private static func isAlive(_ reference: FileDescriptor) -> Bool {
        var entry = pollfd(fd: reference.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
