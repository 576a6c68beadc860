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
            -currentHost or -host NAME before the verb (ours, --current-host and --host NAME, behind it), \
            -g, NSGlobalDomain or -app NAME for a domain, and values of any type behind the key. Options with two hyphens stand before a value; \
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
            throw ValidationError(noVerb(word, among: verbs))
        }
        try refuseOtherHyphens(words)
        try refuseVerbAlone(words)
        let words = try CommandWords.arranged(words)
        guard !words.prefix(while: { $0 != "--" }).contains(where: asksForScript) else {
            throw ToolError.noCompletionScript
        }
        let (head, values) = Self.parted(words)
        var command = try parsed(head)
        if var write = command as? Write {
            write.words = values
            command = write
        }
        return command
    }

    /// The words of a value apart from all others: the library takes a time for them that grows with
    /// the square of their number, and they are none of its own.
    private static func parted(_ words: [String]) -> (head: [String], values: [String]) {
        guard words.first == Verb.write.rawValue, let end = words.firstIndex(of: "--"),
            words.count > end + 3
        else { return (words, []) }
        return (Array(words[..<(end + 3)]), Array(words[(end + 3)...]))
    }

    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
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

    /// Refuses a mistyped option before the verb, in which the library may see several of one letter.
    private static func refuseOtherHyphens(_ words: [String]) throws {
        guard let word = words.first, word.hasPrefix("-"), !word.hasPrefix("--"), word != "-h",
            !hostOptions.contains(word)
        else { return }
        let meant = Spelling.nearest(to: word, among: hostOptions)
        throw ValidationError(
            "There is no option '\(word.onOneLine)'."
                + (meant.map { " Did you mean '\($0)'?" } ?? ""))
    }

    private static let hostOptions: [String] = TypedLine.hosts

    /// Refuses words that the library answers with a page of help, as if nothing were wrong.
    private static func refuseVerbAlone(_ words: [String]) throws {
        let backupVerbs = BackupCommands.configuration.subcommands.map { $0._commandName }
        if words == ["backup"] {
            throw ValidationError("backup needs a verb of its own: list, now or restore.")
        }
        guard words.first == "help", let verb = words.dropFirst().first else { return }
        if verb.hasPrefix("-") { return }
        guard verbs.contains(verb) else { throw ValidationError(noVerb(verb, among: verbs)) }
        if verb == "backup", let verb = words.dropFirst(2).first, !backupVerbs.contains(verb) {
            throw ValidationError(noVerb(verb, among: backupVerbs))
        }
    }

    /// Whether a word is the library's own option for a script, which would know no domains and keys.
    private static func asksForScript(_ word: String) -> Bool {
        word == "--generate-completion-script" || word.hasPrefix("--generate-completion-script=")
    }

    private static func noVerb(_ word: String, among verbs: [String]) -> String {
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

    /// The words behind the program's name.
    ///
    /// - Throws: `ToolError` where one is no text: it would be another one then, and so a name or a
    ///   value that nobody gave.
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

    private static func runAndExit() async -> Never {
        do {
            var command = try command(try arguments())
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
