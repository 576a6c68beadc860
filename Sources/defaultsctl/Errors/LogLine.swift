@preconcurrency import Glibc

/// A message as macOS's tools write it, after the time, the name of the program and its numbers.
///
/// These are the process and the thread; the only thread has the number of the process. Scripts remove
/// the first line, or compare the second one.
enum LogLine {
    /// The message, which ends its line.
    ///
    /// - Parameter message: On macOS, most begin with a line break.
    static func text(of message: String) -> String {
        let now = Defaultsctl.console.now
        let milliseconds = String(1000 + now.tv_nsec / 1_000_000).dropFirst()
        let time = LocalTime(UInt64(clamping: now.tv_sec)).text
        return "\(time).\(milliseconds) defaults[\(getpid()):\(getpid())] \(message)"
            + (message.hasSuffix("\n") ? "" : "\n")
    }
}
