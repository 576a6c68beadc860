import Logging
import Synchronization

/// A line of the log.
struct LogLine: Equatable {
    let level: Logger.Level
    let text: String
}

/// What a service logs.
final class LogLines: Sendable {
    private let lines = Mutex<[LogLine]>([])

    var all: [LogLine] { lines.withLock { $0 } }

    /// A logger that writes here.
    var logger: Logger {
        Logger(label: "test") { _ in Handler(lines: self) }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = LogLine(level: event.level, text: "\(event.message)")
            lines.lines.withLock { $0.append(line) }
        }
    }
}
