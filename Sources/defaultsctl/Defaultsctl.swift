import ArgumentParser
import DBus
import DefaultsProtocol
@preconcurrency import Glibc
import SystemCalls

/// `defaultsctl`: reads, writes and watches the user's defaults.
@main
struct Defaultsctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaultsctl",
        abstract: "Reads, writes and watches the user's defaults.",
        discussion: """
            It takes the command lines of macOS's defaults. If it is called by that name, it also \
            prints what scripts expect of macOS. A host is -currentHost or -host NAME before the verb or the domain, or --current-host or \
            --host NAME after the verb. A domain is an application ID, -g or NSGlobalDomain, -app \
            NAME, NAME.plist, or a path that ends in /Preferences/NAME.plist. Values of any type \
            come after the key. A word that begins with two hyphens is an option, except after the \
            type of a value, and an unknown option is refused. After -- no word is an option.

            Exit status: 0 done, 1 not found or refused, 64 wrong command line, 69 the service \
            cannot be reached, 74 the change is made, but not on disk yet.
            """,
        version: Version.current,
        subcommands: [
            Read.self, ReadType.self, Write.self, Rename.self, Delete.self, DeleteAll.self,
            FactoryReset.self, Apply.self, Unapply.self, Owners.self, Drift.self, Import.self,
            Export.self, Domains.self, Keys.self,
            Find.self, Explain.self,
            History.self, Undo.self, Redo.self,
            Locked.self, Grant.self, Revoke.self, Grants.self, Lint.self, Watch.self, Inspect.self,
            Sync.self, Status.self, Stats.self, Adopt.self, Release.self,
            Doctor.self,
            BackupCommands.self, RoamCommands.self,
            Complete.self,
        ])

    /// Runs the command that the arguments name.
    ///
    /// For a wrong command line, it prints one sentence and the usage, instead of ArgumentParser's
    /// page.
    static func main() {
        StandardDescriptors.fill()
        do {
            try MainThread.run { Glibc.exit(await outcome(of: arguments)) }
        } catch {
            Complaint.say("\(error)")
            Glibc.exit(EX_OSERR)
        }
    }

    /// The words after the program's name.
    ///
    /// - Throws: `ToolError` if a word is not UTF-8. Converting it would change it to a different
    ///   name or value.
    private static func arguments() throws(ToolError) -> [String] {
        var words: [String] = []
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[place] else { break }
            guard let word = String(validatingCString: bytes) else {
                throw .noText(place, String(cString: bytes))
            }
            words.append(word)
        }
        return words
    }

    /// Runs a command line, and prints what is wrong with it.
    ///
    /// - Parameter words: The words after the program's name.
    /// - Returns: The exit status.
    static func outcome(of words: () throws -> [String]) async -> Int32 {
        var line: [String] = []
        do {
            line = try words()
            var command = try command(line)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return EXIT_SUCCESS
        } catch {
            let status = report(error)
            if status == ToolError.wrongLine { showUsage(of: line) }
            return status.rawValue
        }
    }

    /// Prints an error, or what the command line has asked for in place of a command.
    ///
    /// - Returns: The exit status.
    private static func report(_ error: any Error) -> ExitCode {
        if exitCode(for: error) == .success {
            // Help, the version, or a completion script.
            let text = fullMessage(for: error)
            let written = Result { try SafeOutput.print(text) }
            guard case .failure(let failure) = written else { return .success }
            Complaint.say(ToolError(failure))
            return ToolError.refused
        }
        // The command has reported its failure.
        if let status = error as? ExitCode { return status }
        if exitCode(for: error) == .validationFailure, !(error is ToolError) {
            Complaint.say(withHint(message(for: error)))
            return .validationFailure
        }
        let failure = ToolError(error)
        Complaint.say(failure)
        return failure.exitCode
    }

    /// Prints the usage of the verb, if a person reads it: in a log, it would hide the sentence.
    private static func showUsage(of words: [String]) {
        guard console.isTerminal(.error) else { return }
        for (place, line) in Usage.lines(of: words).enumerated() {
            console.complain("\(place == 0 ? "usage:" : "      ") \(line)\n")
        }
    }

    /// What is wrong with a command line, with a hint.
    private static func withHint(_ message: String) -> String {
        let said = Suggestion.checked(
            message.split(whereSeparator: \.isNewline)
                .map { $0.drop(while: \.isWhitespace) }.joined(separator: " "))
        if said.hasSuffix("?") { return "\(said) See defaultsctl --help." }
        return "\(said.hasSuffix(".") ? String(said.dropLast()) : said); see defaultsctl --help"
    }
}
