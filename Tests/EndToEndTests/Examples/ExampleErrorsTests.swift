import TestSupport
import TestTiers
import Testing

/// What every example does with a wrong command line, without a service, and with a refusal.
@Suite(.startsPrograms, .serialized) struct ExampleErrorsTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    static let programs = ["Accounts", "BooksOwned", "GameOptions", "Library", "ScaryBugs"]

    /// A change by each program, the key that it changes, and what lists it.
    struct Change: Sendable, CustomTestStringConvertible {
        let program: String
        let words: [String]
        let domain: String
        let key: String
        var listing: [String] = []
        let line: String

        var testDescription: String { ([program] + words).joined(separator: " ") }
        var command: [String] { [Desktop.builtProgram(program)] + words }
        var listingCommand: [String] { [Desktop.builtProgram(program)] + listing }
    }

    static let changes = [
        Change(
            program: "Accounts", words: ["add", "work", "ada"], domain: "org.example.Accounts",
            key: "Accounts", line: "work: ada"),
        Change(
            program: "BooksOwned", words: ["add", "Dune"], domain: "org.example.BooksOwned",
            key: "Titles", line: "1. Dune"),
        Change(
            program: "GameOptions", words: ["sound", "off"], domain: "org.example.Game",
            key: "GameOptions", line: "sound off, music on"),
        Change(
            program: "GameOptions", words: ["reach", "Cave", "from", "Meadow"],
            domain: "org.example.Game", key: "Levels", listing: ["levels"],
            line: "  Cave, from Meadow"),
        Change(
            program: "Library", words: ["add", "Emma", "Jane Austen", "474"],
            domain: "org.example.Library", key: "Books",
            line: "Emma by Jane Austen, 474 pages, available"),
        Change(
            program: "ScaryBugs", words: ["add", "Potato Bug", "4.5"],
            domain: "org.example.ScaryBugs", key: "LastNumber",
            line: "Bug 1: Potato Bug, 4.5 of 5, habitat unknown"),
    ]

    /// That a program ended with a sentence on standard error.
    private func expectRefusal(_ result: ProgramResult, by program: String) {
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("\(program): "))
        #expect(result.error.hasSuffix(".\n") || result.error.hasSuffix(")\n"))
    }

    @Test(arguments: programs)
    func `Help is the usage on standard output`(_ program: String) {
        let result = desktop.example(program, "--help")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("usage: \(program) "))
        #expect(result.error == "")
    }

    @Test(arguments: programs)
    func `An unknown command line exits with 64, and the usage on standard error`(
        _ program: String
    ) {
        for words in [["nope"], ["add"], ["sound", "maybe"], ["card", "nope"], [""]] {
            let result = desktop.run([Desktop.builtProgram(program)] + words)
            #expect(result.status == 64)
            #expect(result.output == "")
            #expect(result.error.contains("usage: \(program) "))
        }
    }

    /// Runs the change and its listing without a bus, with a daemon beside the program or without any.
    private func runWithoutBus(
        _ change: Change, daemon: Bool
    ) throws -> (change: ProgramResult, listing: ProgramResult) {
        let program = try desktop.installed(Desktop.builtProgram(change.program), daemon: daemon)
        var environment = desktop.environmentWithoutBus
        environment["PATH"] = "/usr/bin:/bin"
        return (
            desktop.run([program] + change.words, environment: environment),
            desktop.run([program] + change.listing, environment: environment)
        )
    }

    @Test(arguments: changes)
    func `Without a bus a change is stored by the daemon beside the program`(_ change: Change)
        throws
    {
        let (result, listing) = try runWithoutBus(change, daemon: true)
        #expect(result.status == 0, "\(result)")
        #expect(try listing.requireOutput().contains(change.line + "\n"))
        #expect(desktop.toolAlone("keys", change.domain).output.contains(change.key + "\n"))
    }

    @Test(
        .enabled(if: !Desktop.hasInstalledDaemon, "a daemon is installed on this machine"),
        arguments: changes)
    func `Without a bus and a daemon an error says that a change is not stored`(
        _ change: Change
    ) throws {
        let (result, listing) = try runWithoutBus(change, daemon: false)
        expectRefusal(result, by: change.program)
        // A list that is not known is not shown as an empty one.
        expectRefusal(listing, by: change.program)
        #expect(try !desktop.run(change.listingCommand).requireOutput().contains(change.line))
    }

    @Test(arguments: changes)
    func `A change that the administrator has locked is refused in a sentence`(
        _ change: Change
    ) throws {
        try desktop.write(
            #"{"$locked": ["\#(change.key)"]}"#, to: change.domain + ".json", in: .managed)
        let result = desktop.run(change.command)
        expectRefusal(result, by: change.program)
        #expect(result.error.contains("locked the key '\(change.key)'"))
        #expect(desktop.tool("keys", change.domain).output == "")
    }

    @Test(arguments: changes)
    func `A value of another type is an error, and no change overwrites it`(_ change: Change) throws
    {
        desktop.tool("write", change.domain, change.key, "-date", "2001-01-01T00:00:00Z")
        let stored = try desktop.tool("read", change.domain, change.key, "--json").requireOutput()
        let result = desktop.run(change.command)
        expectRefusal(result, by: change.program)
        // The error says what is wrong, and not only of which type it is.
        #expect(!result.error.contains("The error is one of"), "\(result.error)")
        #expect(result.error.contains("The stored value cannot be read, and was not changed. "))
        #expect(
            try desktop.tool("read", change.domain, change.key, "--json").requireOutput()
                == stored)
    }

    @Test(arguments: changes)
    func `A change is there at the next start`(_ change: Change) throws {
        try desktop.run(change.command).requireOutput()
        #expect(
            try desktop.run(change.listingCommand).requireOutput().contains(change.line + "\n"))
    }
}
