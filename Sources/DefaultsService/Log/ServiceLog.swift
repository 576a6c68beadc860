import DefaultsCore
import Glibc
package import Logging
import DefaultsStorage
import SystemCalls

/// Writes the log: entries with fields to the journal, or lines to standard error.
///
/// It may name domains and keys, but never contains values.
package struct ServiceLog: LogHandler {
    /// The form of an event in the log.
    package enum Form: Sendable {
        /// An entry of the journal, with fields.
        ///
        /// If the journal does not take it, this is a line with its priority.
        case entries
        /// A line with the priority that the journal reads, such as `<4>`; see
        /// <https://www.freedesktop.org/software/systemd/man/latest/sd-daemon.html>.
        case priorities
        /// A line with the program's name and, for problems, the kind: `defaultsd: warning: `.
        case words

        /// Entries if standard error is the journal, otherwise text.
        ///
        /// systemd names the journal's stream in `JOURNAL_STREAM`. A program with a different
        /// standard error may inherit the variable, so the stream is compared.
        package static var ofStandardError: Form {
            guard let stream = getenv("JOURNAL_STREAM") else { return .words }
            guard let status = try? FileStatus(ofDescriptor: STDERR_FILENO) else { return .words }
            let own = "\(status.device):\(status.inode)"
            return String(cString: stream) == own ? .entries : .words
        }
    }

    /// Lines below this level are dropped.
    package var logLevel: Logger.Level
    /// Facts at the end of every line.
    package var metadata: Logger.Metadata = [:]
    private let form: Form
    private let journal: JournalSocket?

    /// Makes a handler that drops lines below `logLevel`.
    package init(logLevel: Logger.Level, form: Form = .ofStandardError) {
        self.logLevel = logLevel
        self.form = form
        if case .entries = form { journal = JournalSocket() } else { journal = nil }
    }

    /// One of the facts at the end of every line.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes an event.
    package func log(event: LogEvent) {
        var facts = metadata
        for (key, value) in event.metadata ?? [:] { facts[key] = value }
        let fields = facts.filter { JournalField(rawValue: $0.key) != nil }
        let tail = facts.filter { fields[$0.key] == nil }.sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let line = "\(event.message)\(tail)"
        if let journal, journal.send(Self.entry(line, event.level, fields)) { return }
        write(line: line, level: event.level)
    }

    /// The fields of an entry in the journal, which adds who has sent it.
    private static func entry(
        _ line: String, _ level: Logger.Level, _ fields: Logger.Metadata
    ) -> [(name: String, value: String)] {
        [
            ("MESSAGE", escaped(line)), ("PRIORITY", "\(priority(of: level))"),
            ("SYSLOG_IDENTIFIER", "defaultsd"),
        ] + fields.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
    }

    /// Writes a line with one call, so that the lines of several processes do not mix.
    ///
    /// A line break inside would begin another line with the default priority. File names and the
    /// data of callers may contain characters that move the cursor or reverse the direction of
    /// text.
    private func write(line: String, level: Logger.Level) {
        let beginning =
            switch form {
            case .entries, .priorities: "<\(Self.priority(of: level))>"
            case .words: "defaultsd: \(Self.word(for: level))"
            }
        var bytes = Array(beginning.utf8)
        bytes += Self.escaped(line).utf8
        bytes.append(UInt8(ascii: "\n"))
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// A line without characters that a terminal would obey.
    ///
    /// A line break becomes a space, and others are escaped as in Swift.
    package static func escaped(_ line: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            if scalar == "\n" {
                escaped.append(" ")
            } else if isObeyed(scalar) {
                escaped.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    /// Whether a character controls the terminal, ends a line, or changes the direction of text.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar.properties.isBidiControl
        default: false
        }
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

    /// The word for the kind of a line; empty for ordinary events.
    private static func word(for level: Logger.Level) -> String {
        switch level {
        case .trace, .debug, .info, .notice: ""
        case .warning: "warning: "
        case .error, .critical: "error: "
        }
    }
}
