import ArgumentParser
import DefaultsProtocol
@preconcurrency import Glibc

/// `defaultsctl`: reads, writes and watches the user's defaults.
@main
struct Defaultsctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaultsctl",
        abstract: "Reads, writes and watches the user's defaults.",
        discussion: """
            It takes the command lines of macOS's defaults, also when it is called by that name: \
            -currentHost or -host NAME before the verb, -g, NSGlobalDomain or -app NAME for a domain, \
            and values of any type behind the key. Options with two hyphens stand before a value; \
            behind -- nothing is an option.

            Exit status: 0 done, 1 not found or refused, 64 wrong command line, 69 the service \
            cannot be reached.
            """,
        version: Version.current,
        subcommands: [
            Read.self, ReadType.self, Write.self, Rename.self, Delete.self, DeleteAll.self,
            Apply.self, Import.self, Export.self, Domains.self, Keys.self, Find.self, Watch.self,
            Inspect.self, Sync.self, Status.self, Stats.self, Doctor.self, BackupCommands.self,
            Complete.self,
        ])

    /// The command that these words, which stand behind the program's name, ask for.
    static func command(_ words: [String]) throws -> any ParsableCommand {
        if let word = words.first, !word.hasPrefix("-"), Verb(word: word) == nil,
            !verbs.contains(word)
        {
            throw ValidationError(noVerb(word))
        }
        let words = try CommandWords.arranged(words)
        // The verb alone is parsed in a part of the time that all of them take; what it does not take
        // is left to all, for their words.
        let verb = configuration.subcommands.first { $0._commandName == words.first }
        let asksForHelp = words.contains { ["help", "-h", "--help"].contains($0) }
        if !asksForHelp, let command = try? verb?.parseAsRoot(Array(words.dropFirst())) {
            return command
        }
        return try parseAsRoot(words)
    }

    private static let verbs: [String] =
        configuration.subcommands.map { $0._commandName } + ["help"]

    private static func noVerb(_ word: String) -> String {
        let meant = Spelling.nearest(to: word, among: verbs)
        return "There is no verb '\(word.inBrief)'."
            + (meant.map { " Did you mean '\($0)'?" } ?? "")
    }

    /// Runs the command that the arguments name.
    ///
    /// Of a wrong command line it says one sentence, where the library would print a page.
    static func main() {
        StandardDescriptors.fill()
        do {
            try MainThread.run { await runAndExit() }
        } catch {
            Complaint.say("\(error)")
            Glibc.exit(EX_OSERR)
        }
    }

    private static func runAndExit() async -> Never {
        do {
            var command = try command(Array(CommandLine.arguments.dropFirst()))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit()
        } catch  where exitCode(for: error) == .success {
            // Help, the version, or a script for a shell.
            let text = fullMessage(for: error)
            let written = Result { try SafeOutput.print(text) }
            guard case .failure(let failure) = written else { exit() }
            Complaint.say(ToolError(failure).message)
            exit(withError: ToolError.refused)
        } catch let status as ExitCode {
            // What failed has said so.
            exit(withError: status)
        } catch let failure as ToolError {
            Complaint.say(failure.message)
            Glibc.exit(failure.exitCode.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            Complaint.say(withHint(message(for: error)))
            Glibc.exit(ExitCode.validationFailure.rawValue)
        } catch {
            let failure = ToolError(error)
            Complaint.say(failure.message)
            Glibc.exit(failure.exitCode.rawValue)
        }
    }

    /// What is wrong with a command line, and where to look.
    private static func withHint(_ message: String) -> String {
        let said = message.split(whereSeparator: \.isNewline)
            .map { $0.drop(while: \.isWhitespace) }.joined(separator: " ")
        if said.hasSuffix("?") { return "\(said) See defaultsctl --help." }
        return "\(said.hasSuffix(".") ? String(said.dropLast()) : said); see defaultsctl --help"
    }
}
