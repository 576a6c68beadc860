import ArgumentParser
import DefaultsClient

struct Stats: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows what takes up most space, who is near a bound, and who writes most.")

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many of each to show.", valueName: "count"))
    var limit = 10

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (1...1000).contains(limit) else {
            throw ValidationError("--limit must be a number from 1 to 1000.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let census = try await Census(of: defaults, largest: UInt32(limit))
        if json { return try SafeOutput.print(json: census.json(longest: limit)) }
        try SafeOutput.print(census.text(longest: limit))
    }
}
