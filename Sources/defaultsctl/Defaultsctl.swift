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
            Domains.self, Find.self, Import.self, Export.self, Watch.self, Inspect.self, Sync.self,
            Status.self,
            BackupCommands.self,
        ])

    /// Runs the command that the arguments name.
    ///
    /// Of a wrong command line it says one sentence, where the library would print a page.
    static func main() async {
        do {
            let words = try CommandWords.arranged(Array(CommandLine.arguments.dropFirst()))
            var command = try parseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let status as ExitCode {
            // What failed has said so.
            exit(withError: status)
        } catch let failure as ToolError {
            fputs("defaultsctl: \(failure.message)\n", stderr)
            Glibc.exit(failure.exitCode.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            let said = message(for: error)
            let sentence = said.hasSuffix(".") ? String(said.dropLast()) : said
            fputs("defaultsctl: \(sentence); see defaultsctl --help\n", stderr)
            Glibc.exit(ExitCode.validationFailure.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
