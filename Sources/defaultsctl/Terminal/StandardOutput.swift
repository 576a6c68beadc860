@preconcurrency import Glibc

/// The one way to standard output, by which nothing is lost in silence.
enum StandardOutput {
    /// Writes bytes as they are.
    ///
    /// - Throws: ``ToolError`` where they cannot be written.
    static func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
        let bytes = Array(bytes)
        guard fwrite(bytes, 1, bytes.count, stdout) == bytes.count else {
            throw .output(errno)
        }
    }

    /// Sends what was written on its way; without that a full disk would go unnoticed.
    static func flush() throws(ToolError) {
        guard fflush(stdout) == 0 else { throw .output(errno) }
    }
}
