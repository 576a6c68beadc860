import ArgumentParser
import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import KeyedArchive
import SystemCalls

/// An error of the tool: one sentence for standard error, and an exit status.
struct ToolError: Error {
    /// What went wrong.
    let fact: String
    /// A sentence about the whole command, such as "Nothing was changed." A command that has made
    /// other changes omits it.
    private let remark: String
    let exitCode: ExitCode
    /// What macOS's tool says instead, with its line breaks; nil if it has no such message.
    private let onMacOS: String?

    var message: String { fact + remark }

    /// Not found, or refused.
    static let refused = ExitCode(1)
    /// The command line is wrong (EX_USAGE).
    static let wrongLine = ExitCode.validationFailure
    /// The change is made, but it is not on disk yet (EX_IOERR).
    private static let notOnDisk = ExitCode(EX_IOERR)
    /// The service cannot be reached (EX_UNAVAILABLE).
    private static let noService = ExitCode(EX_UNAVAILABLE)

    init(
        _ fact: String, _ exitCode: ExitCode, remark: ContractError.Remark? = nil,
        onMacOS: String? = nil
    ) {
        self.init(fact, exitCode, remark.map { " \($0.rawValue)" } ?? "", onMacOS: onMacOS)
    }

    /// An error in other words, with the exit status and macOS's message of the one that it details.
    init(_ fact: String, like error: ToolError) {
        self.init(fact, error.exitCode, error.remark, onMacOS: error.onMacOS)
    }

    private init(
        _ fact: String, _ exitCode: ExitCode, _ remark: String, onMacOS: String? = nil
    ) {
        self.fact = fact
        self.remark = remark
        self.exitCode = exitCode
        self.onMacOS = onMacOS
    }

    /// The error as the tool says it: with its line break, and without one inside it, except for the
    /// messages of macOS's tool.
    func text(as name: ProgramName = .current) -> String {
        guard name == .defaults, let onMacOS else { return Complaint.line(message) }
        return LogLine.text(of: onMacOS)
    }

    private init(_ error: ContractError) {
        let exitCode = error.code == .notDurable ? Self.notOnDisk : Self.refused
        self.init(error.fact, exitCode, String(error.message.dropFirst(error.fact.count)))
    }

    /// The table from errors to exit statuses.
    init(_ error: any Error) {
        switch error.ofContract {
        case let error as ToolError: self = error
        case let error as LockedKey: self = .locked(error)
        case let error as DefaultsError: self.init(error.message.onOneLine, Self.noService)
        case let error as DomainEdits.KeyFailure: self.init(error.reason)
        case let error as Unexpected: self.init(error.conflict)
        case let error as LostAnswer:
            self = ToolError(error.cause).remarking(
                "The change may have been made. \(error.advice)")
        case let error as ContractError: self.init(error)
        case let error as DBusError where Self.unreachable.contains(error.name):
            self.init(
                "The defaults service cannot be reached: \(error.reason.onOneLine). "
                    + "Run 'defaultsctl doctor' to find the cause.", Self.noService)
        case let error as DBusError: self.init(error.message, Self.refused)
        default: self.init("\(error)", Self.refused)
        }
    }

    /// The errors that mean that the service does not answer.
    ///
    /// Every other error is an answer.
    private static let unreachable: Set<ErrorName> = [
        .serviceUnknown, .timeout, .disconnected, .ioError,
        .nameHasNoOwner, .noReply,
        "org.freedesktop.DBus.Error.NoServer", "org.freedesktop.DBus.Error.FileNotFound",
        "org.freedesktop.DBus.Error.BadAddress", "org.freedesktop.DBus.Error.NotSupported",
        "org.freedesktop.DBus.Error.Spawn.ChildExited",
        "org.freedesktop.DBus.Error.Spawn.ChildSignaled",
        "org.freedesktop.DBus.Error.Spawn.ExecFailed", "org.freedesktop.DBus.Error.Spawn.Failed",
        "org.freedesktop.DBus.Error.TimedOut",
    ]

    static func cannotShow(_ key: String, because error: any Error) -> ToolError {
        ToolError("The value of '\(key.onOneLine)' cannot be shown: \(error)", refused)
    }

    static let domainInDocument = ToolError(
        "Each line needs a key: 'apply' cannot change a whole domain.", refused)

    static let noHome = ToolError(
        "Neither HOME nor XDG_CONFIG_HOME is an absolute path. Set HOME to your home directory.",
        refused)

    static func noModule(_ name: String) -> ToolError {
        ToolError(
            "GIO does not find the module \(name), so no program would use it. Install the "
                + "package defaultsd-gsettings, or run 'make install PREFIX=/usr', or name the module's "
                + "directory in GIO_EXTRA_MODULES.", refused
        )
    }

    static let noPortal = ToolError(
        "xdg-desktop-portal is not installed, so no program asks for settings by it. Install the package "
            + "xdg-desktop-portal.", refused)

    static func noBackend(_ directories: [String]) -> ToolError {
        ToolError(
            "The file defaultsd.portal is in none of the directories in which xdg-desktop-portal looks: "
                + "\(directories.joined(separator: ", ")). Install it with 'make install PREFIX=/usr'.",
            refused)
    }

    static func noOwner(_ name: String) -> ToolError {
        ToolError(
            "The daemon was started again and does not serve \(name). Run 'defaultsctl doctor' to find the "
                + "cause, and then this command again.", refused)
    }

    static func rivalReturns(_ name: String) -> ToolError {
        ToolError(
            "Programs start \(name) again and again. End those that store settings, and run this command "
                + "again.", refused)
    }

    static let noDaemonProgram = ToolError(
        "defaultsd is not installed beside this program or in PATH. Install both into the same directory.",
        refused)

    static func doesNotEnd(_ name: String, _ process: UInt32) -> ToolError {
        ToolError(
            "Process \(process), which owns \(name), does not end. End it, and run this command again.",
            refused)
    }

    static func noBackup(_ name: String) -> ToolError {
        ToolError(
            "There is no backup '\(name.onOneLine)'. Run 'defaultsctl backup list' to list all "
                + "backups.", refused)
    }

    static func severalBackups(_ name: String, _ count: Int) -> ToolError {
        ToolError(
            "\(count) backups have names that begin with '\(name.onOneLine)'. Give more of the "
                + "name.", refused)
    }

    /// A file or standard input cannot be read or shown.
    static func input(_ name: String, _ reason: String) -> ToolError {
        ToolError("\(name.fileTitle): \(reason)", refused)
    }

    /// An error in a part of the input.
    static func input(_ name: String, _ reason: ToolError) -> ToolError {
        ToolError("\(name.fileTitle): \(reason.fact)", refused, reason.remark)
    }

    /// The error, with a sentence about other changes.
    func remarking(_ sentence: String) -> ToolError {
        ToolError(fact, exitCode, " \(sentence)")
    }

    /// Standard output cannot be written.
    static func output(_ code: Int32) -> ToolError {
        ToolError("The output cannot be written: \(SystemError.words(for: code)).", refused)
    }

    /// There is no service, and defaultsd is not installed.
    static func noDaemon(_ reason: String) -> ToolError {
        ToolError(
            "The defaults service cannot be reached (\(reason.onOneLine)), and there is no program defaultsd "
                + "beside this one or in PATH to run instead. Run 'defaultsctl doctor' for details.",
            noService)
    }

    /// The daemon for this command cannot be started.
    static func daemonFailed(_ program: String, _ reason: String) -> ToolError {
        ToolError("\(program.onOneLine) cannot be run: \(reason).", noService)
    }

    /// The daemon for this command has failed to start, with its message.
    static func ownDaemon(_ words: String) -> ToolError {
        ToolError(words.onOneLine, noService)
    }

    /// The daemon for this command could not write everything, with its message.
    static func notWritten(_ words: String) -> ToolError {
        ToolError(words.onOneLine, notOnDisk)
    }

    /// A command that needs the service itself: a daemon for this command could not do it.
    static let needsService = ToolError(
        "This command needs the defaults service, and this session has none. Run 'defaultsctl doctor' "
            + "to find the cause.", noService)

    /// The directory that the database is below is another user's.
    static func foreignHome(_ finding: Finding) -> ToolError {
        ToolError(
            [finding.message, finding.advice].compactMap(\.self).joined(separator: " "), noService)
    }

    static let busWentAway = ToolError(
        "The bus has gone, so nothing more can be watched.", noService)
}

/// Prints the tool's messages on standard error.
enum Complaint {
    /// Prints a message on one line.
    ///
    /// Long words of the command line are cut.
    static func say(_ sentence: String) { Defaultsctl.console.complain(line(sentence)) }

    /// Prints an error.
    static func say(_ error: ToolError) { Defaultsctl.console.complain(error.text()) }

    /// Prints a remark about a change, which may be tried several times, only once.
    static func sayOnce(_ sentence: String) {
        if Defaultsctl.console.isNew(sentence) { say(sentence) }
    }

    /// A message on one line.
    fileprivate static func line(_ sentence: String) -> String {
        "defaultsctl: \(inBrief(sentence.onOneLine))\n"
    }

    private static func inBrief(_ line: String) -> String {
        let values = Defaultsctl.console.words.dropFirst().flatMap { word in
            // For --option=value, only the value is shown.
            [word] + (word.firstIndex(of: "=").map { [String(word[$0...].dropFirst())] } ?? [])
        }
        return values.map(\.onOneLine).reduce(line) { line, word in
            let brief = word.inBrief
            return brief == word ? line : line.replacing(word, with: brief)
        }
    }
}

extension String {
    /// On one line, and cut if it is long.
    var inBrief: String { onOneLine.cut(to: 100) }

    /// The first characters, with a mark if some are left out.
    func cut(to longest: Int) -> String {
        count > longest ? "\(prefix(longest))…" : self
    }
}

extension String {
    /// The name of a file in a sentence, on one line.
    var fileTitle: String { isEmpty ? "''" : onOneLine }
}
