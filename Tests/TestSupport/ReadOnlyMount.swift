import Glibc

/// A directory that takes no changes while this exists: it is mounted over itself, read-only.
///
/// What was open before can be written on.
public final class ReadOnlyMount {
    private let path: String

    /// Whether this user may mount.
    public static let isAvailable = geteuid() == 0

    /// - Parameter path: A directory that exists.
    /// - Throws: ``Refused`` if the system does not mount it.
    public init(over path: String) throws {
        self.path = path
        let (bind, again) = (UInt(MS_BIND), UInt(MS_REMOUNT) | UInt(MS_RDONLY))
        guard mount(path, path, nil, bind, nil) == 0 else { throw Refused(error: errno) }
        guard mount(nil, path, nil, bind | again, nil) == 0 else {
            let error = errno
            umount2(path, Int32(MNT_DETACH))
            throw Refused(error: error)
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    /// The system has refused a mount.
    public struct Refused: Error {
        /// The number of the error.
        public let error: Int32
    }
}
