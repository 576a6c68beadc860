internal import Glibc

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system call.
    package let call: String
    /// What it was called on.
    package let path: String
    /// The number of its error, such as `ENOSPC`.
    package let number: Int32

    /// Names a failure, for a call that returns its error and does not set `errno`.
    package init(call: String, path: String, number: Int32) {
        self.call = call
        self.path = path
        self.number = number
    }

    /// The failure of the call that has just returned in this thread.
    package static func last(_ call: String, _ path: String) -> SystemError {
        SystemError(call: call, path: path, number: errno)
    }

    /// The call, its object and the reason.
    package var description: String { "\(call) \(path): \(reason)" }

    /// Why it failed, in the words of the C library.
    package var reason: String { SystemError.words(for: number) }

    /// What the C library says about an error number.
    package static func words(for number: Int32) -> String {
        // Another thread may overwrite the buffer of strerror, so this call has its own.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let words = buffer.baseAddress,
                strerror_r(number, words, buffer.count) == 0
            else { return "error \(number)" }
            return String(cString: words)
        }
    }
}

/// Repeats a system call that a signal interrupted.
func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
