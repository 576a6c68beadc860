import Glibc

/// An open file descriptor that is closed when the last reference to it goes away.
///
/// One that is sent stays open here: the message carries a duplicate. One that is received is the
/// receiver's own.
public final class FileDescriptor: Sendable, Equatable {
    /// The number by which the system knows it; valid as long as this object lives.
    public let number: Int32

    /// Takes a descriptor over.
    public init(owning number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Whether both are the same object, not merely the same file.
    public static func == (first: FileDescriptor, second: FileDescriptor) -> Bool {
        first === second
    }
}
