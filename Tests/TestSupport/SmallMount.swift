import Glibc

/// A file system of its own with little space, in the place of a directory while this exists.
public final class SmallMount {
    private let path: String
    private var filler: String { path + "/filler" }

    /// Whether this user may mount.
    public static let isAvailable = geteuid() == 0

    /// Mounts an empty one that only this user can open.
    ///
    /// - Parameters:
    ///   - path: A directory that exists.
    ///   - size: Its space, in kilobytes.
    /// - Throws: ``Refused`` if the system does not mount it.
    public init(over path: String, kilobytes size: Int) throws {
        self.path = path
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)k,mode=700") == 0 else {
            throw Refused(error: errno)
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    /// Fills it to the last byte.
    ///
    /// - Throws: ``Refused`` if that fails for another reason than that it is full.
    public func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Refused(error: errno) }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(file, zeros, zeros.count) > 0 {}
        guard errno == ENOSPC else { throw Refused(error: errno) }
    }

    /// Takes away what fills it.
    public func clear() throws {
        // A program that another test is just starting may hold the file, with its space, open.
        guard truncate(filler, 0) == 0, unlink(filler) == 0 else { throw Refused(error: errno) }
    }

    /// The system has refused a call.
    public struct Refused: Error {
        /// The number of the error.
        public let error: Int32
    }
}
