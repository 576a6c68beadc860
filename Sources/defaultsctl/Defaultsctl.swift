import ArgumentParser
import DefaultsProtocol

/// `defaultsctl`: reads, writes and watches the user's defaults.
@main
struct Defaultsctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaultsctl",
        abstract: "Reads, writes and watches the user's defaults.",
        discussion: """
            Exit status: 0 done, 1 not found or refused, 64 wrong command line, 69 the service \
            cannot be reached.
            """,
        version: Version.current,
        subcommands: [
            Read.self, Write.self, Delete.self, Domains.self, Watch.self, Sync.self, Status.self,
        ])
}
