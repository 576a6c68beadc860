internal import Glibc

/// An open file descriptor that is closed when the last reference to it goes away.
///
/// A ``File`` has one owner and knows its path. A descriptor can have several owners.
///
/// An application may close all descriptors. Then the number may belong to a file of its own, which is not
/// closed.
package final class FileDescriptor: Sendable, Equatable {
    /// The number by which the system knows it; valid as long as this object lives.
    package let number: Int32
    private let identity: FileIdentity?

    /// Takes ownership of a descriptor.
    package init(owning number: Int32) {
        self.number = number
        identity = FileIdentity(ofDescriptor: number)
    }

    deinit {
        if identity?.isHeld(byDescriptor: number) ?? true { close(number) }
    }

    /// Whether both are the same object, not merely the same file.
    package static func == (first: FileDescriptor, second: FileDescriptor) -> Bool {
        first === second
    }
}

/// The descriptors of standard input, output and error.
package enum StandardDescriptors {
    /// Opens those that were closed when this program started, so that none of its files or sockets
    /// gets their numbers.
    ///
    /// Reading and writing there fails, as on a closed descriptor.
    package static func fill() {
        for (number, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] as [(Int32, Int32)]
        where fcntl(number, F_GETFD) < 0 {
            // This number is the lowest free one, because those before it are taken.
            _ = open("/dev/null", mode)
        }
    }
}
