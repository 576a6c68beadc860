import Glibc
public import Logging

/// Writes log lines to standard error with the priority prefix that the journal reads.
///
/// See <https://www.freedesktop.org/software/systemd/man/latest/sd-daemon.html>. The lines name
/// domains and keys at most, never values.
public struct JournalLogHandler: LogHandler {
    /// What is below it is dropped.
    public var logLevel: Logger.Level
    /// Facts that every line ends with.
    public var metadata: Logger.Metadata = [:]

    /// A handler that drops what is below `logLevel`.
    public init(logLevel: Logger.Level) {
        self.logLevel = logLevel
    }

    /// One of the facts that every line ends with.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes an event as one line.
    public func log(event: LogEvent) {
        var facts = metadata
        for (key, value) in event.metadata ?? [:] { facts[key] = value }
        let tail = facts.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        write(line: "\(event.message)\(tail)", priority: Self.priority(of: event.level))
    }

    /// Writes a line in one piece, so that lines of several processes do not mix.
    ///
    /// A line break inside would begin another line, of the default priority.
    private func write(line: String, priority: Int) {
        var bytes = Array("<\(priority)>".utf8)
        bytes += line.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
        bytes.append(UInt8(ascii: "\n"))
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// The syslog priority of a level.
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
