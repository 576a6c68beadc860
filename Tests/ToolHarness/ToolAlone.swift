import DefaultsClient
import TestSupport

@testable import defaultsctl

/// Command lines of the tool in this process that need no service.
enum ToolAlone {
    /// Runs a command line to its end.
    ///
    /// - Parameters:
    ///   - words: The words after the name of the program.
    ///   - input: Standard input.
    @discardableResult
    static func run(_ words: [String], input: String = "") async -> ProgramResult {
        await console(words, Array(input.utf8), [:], []).run()
    }

    @discardableResult
    static func run(_ words: String..., input: String = "") async -> ProgramResult {
        await run(words, input: input)
    }

    /// What a command line shows on a terminal, standard error with it.
    static func onTerminal(_ words: [String], variables: [String: String]) async -> String {
        let console = console(words, [], variables, [.input, .output, .error])
        _ = await console.run()
        return console.screen
    }

    private static func console(
        _ words: [String], _ input: [UInt8], _ variables: [String: String],
        _ terminal: Set<StandardStream>
    ) -> TestConsole {
        // What is installed on the machine has no part in tests.
        let variables = variables.merging(["XDG_DATA_DIRS": "/nonexistent"]) { $1 }
        return TestConsole(
            ["defaultsctl"] + words, variables: variables, input: input, terminal: terminal
        ) { throw NotAlone() }
    }

    /// A command line has asked for the service.
    private struct NotAlone: Error {}
}
