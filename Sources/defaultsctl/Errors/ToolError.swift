import ArgumentParser
import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import KeyedArchive

/// A failure of the tool: one sentence for standard error, and an exit status.
struct ToolError: Error {
    /// What went wrong.
    let fact: String
    /// What it says of the whole command, such as that nothing was changed; a command that has made
    /// other changes tells the fact alone.
    private let remark: String
    let exitCode: ExitCode

    var message: String { fact + remark }

    /// Not found, or refused.
    static let refused = ExitCode(1)
    /// A wrong command line (EX_USAGE).
    static let wrongLine = ExitCode.validationFailure
    /// The change is made, and the disk has not taken it yet (EX_IOERR).
    private static let notOnDisk = ExitCode(EX_IOERR)
    /// The service cannot be reached (EX_UNAVAILABLE).
    private static let noService = ExitCode(EX_UNAVAILABLE)

    init(_ fact: String, _ exitCode: ExitCode, remark: DefaultsError.Remark? = nil) {
        self.init(fact, exitCode, remark.map { " \($0.rawValue)" } ?? "")
    }

    private init(_ fact: String, _ exitCode: ExitCode, _ remark: String) {
        self.fact = fact
        self.remark = remark
        self.exitCode = exitCode
    }

    private init(_ error: DefaultsError) {
        let exitCode = error.code == .notDurable ? Self.notOnDisk : Self.refused
        self.init(error.fact, exitCode, String(error.message.dropFirst(error.fact.count)))
    }

    /// The one table from errors to exit statuses.
    init(_ error: any Error) {
        switch error.ofContract {
        case let error as ToolError: self = error
        case let error as LockedKey: self = .locked(error)
        case let error as ClientError: self.init(error.message.onOneLine, Self.noService)
        case let error as DomainEdits.KeyFailure: self.init(error.reason)
        case let error as Unexpected: self.init(error.conflict)
        case let error as DefaultsError: self.init(error)
        case let error as DBusError where Self.unreachable.contains(error.name):
            let reason =
                error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
            self.init(
                "The defaults service cannot be reached: \(reason.onOneLine). "
                    + "'defaultsctl doctor' looks for the cause.", Self.noService)
        case let error as DBusError: self.init(error.message, Self.refused)
        default: self.init("\(error)", Self.refused)
        }
    }

    /// The errors that say that nobody answers; any other is an answer.
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
        "A change names a key; a whole domain cannot be one of several changes.", refused)

    static func noBackup(_ name: String) -> ToolError {
        ToolError(
            "There is no backup '\(name.onOneLine)'. 'defaultsctl backup list' lists those that there "
                + "are.", refused)
    }

    static func severalBackups(_ name: String, _ count: Int) -> ToolError {
        ToolError(
            "\(count) backups have names that begin with '\(name.onOneLine)'. Give more of the one "
                + "you mean.", refused)
    }

    /// A file, or what comes on standard input, cannot be read or shown.
    static func input(_ name: String, _ reason: String) -> ToolError {
        ToolError("\(name.fileTitle): \(reason)", refused)
    }

    /// What is wrong with a part of the input.
    static func input(_ name: String, _ reason: ToolError) -> ToolError {
        ToolError("\(name.fileTitle): \(reason.fact)", refused, reason.remark)
    }

    /// The failure with what became of other changes.
    func remarking(_ sentence: String) -> ToolError {
        ToolError(fact, exitCode, " \(sentence)")
    }

    /// Standard output takes no more.
    static func output(_ code: Int32) -> ToolError {
        ToolError("The output cannot be written: \(SystemError.words(for: code)).", refused)
    }

    /// There is no service, and no program that could be one.
    static func noDaemon(_ reason: String) -> ToolError {
        ToolError(
            "The defaults service cannot be reached (\(reason.onOneLine)), and there is no defaultsd "
                + "beside this program or in PATH to be run instead. 'defaultsctl doctor' says more.",
            noService)
    }

    /// The program that is to serve this command alone cannot be started.
    static func daemonFailed(_ program: String, _ reason: String) -> ToolError {
        ToolError("\(program.onOneLine) cannot be run: \(reason).", noService)
    }

    /// The daemon that was to serve this command alone could not, in its words.
    static func ownDaemon(_ words: String) -> ToolError {
        ToolError(words.onOneLine, noService)
    }

    /// The daemon that has served this command alone could not write everything, in its words.
    static func notWritten(_ words: String) -> ToolError {
        ToolError(words.onOneLine, notOnDisk)
    }

    /// Other programs change the database in turn, and no service tells of it.
    static let nothingToWatch = ToolError(
        "There is nothing to watch: without a service no program announces its changes.", noService)

    static let busWentAway = ToolError("The bus has gone; nothing more can be watched.", noService)
}

/// What the tool says on standard error.
enum Complaint {
    /// Says a sentence, on one line; of long words of the command line it has the beginning alone.
    static func say(_ sentence: String) {
        // What was printed before comes first also where both go to the same file.
        fflush(stdout)
        fputs("defaultsctl: \(inBrief(sentence.onOneLine))\n", stderr)
    }

    private static func inBrief(_ line: String) -> String {
        let values = CommandLine.arguments.dropFirst().flatMap { word in
            // The value of an option, --option=value, is told without it.
            [word] + (word.firstIndex(of: "=").map { [String(word[$0...].dropFirst())] } ?? [])
        }
        return values.map(\.onOneLine).reduce(line) { line, word in
            let brief = word.inBrief
            return brief == word ? line : line.replacing(word, with: brief)
        }
    }
}

extension String {
    /// On one line, and of what is long only the beginning.
    var inBrief: String { onOneLine.cut(to: 100) }

    /// The first so many characters, and a mark where more follow.
    func cut(to longest: Int) -> String {
        count > longest ? "\(prefix(longest))…" : self
    }
}

extension String {
    /// The name of a file as it stands in a sentence, on one line.
    var fileTitle: String { isEmpty ? "''" : onOneLine }
}
