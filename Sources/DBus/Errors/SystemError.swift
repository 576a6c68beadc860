import Glibc

/// What the C library says about an error number.
package enum SystemError {
    package static func words(for code: Int32) -> String {
        // strerror may hand out a buffer that another thread overwrites; this one is ours.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let words = buffer.baseAddress,
                strerror_r(code, words, buffer.count) == 0
            else { return "error \(code)" }
            return String(cString: words)
        }
    }
}
