internal import Glibc

/// A system call that failed.
///
/// It is the cause of a `StorageError`, which says what the failure means.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system call.
    public let call: String
    /// What it was called on.
    public let path: String
    /// The number it failed with, such as `ENOSPC`.
    public let number: Int32

    /// The failure of the call that has just returned in this thread.
    static func last(_ call: String, _ path: String) -> SystemError {
        SystemError(call: call, path: path, number: errno)
    }

    /// The call, its object and the system's words for the reason.
    public var description: String {
        "\(call) \(path): \(String(cString: strerror(number)))"
    }
}
