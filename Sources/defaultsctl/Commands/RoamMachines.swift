import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct RoamMachines: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "machines",
        abstract: "Lists the machines that roam.",
        discussion: """
            Each line shows the ID, the name and when the machine was last seen; * marks this one.
            """)

    @Flag(help: "Print a JSON array.")
    var json = false

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        let machines = try await RoamingService(on: defaults.connection).machines()
        if json {
            let objects = try machines.map { machine in
                try ShownJSON.object([
                    ("id", machine.id.quoted), ("name", machine.name.quoted),
                    ("seen", machine.seen > 0 ? UniversalTime(machine.seen).text.quoted : "null"),
                    ("this", "\(machine.isThis)"),
                ])
            }
            return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        }
        var columns = Columns(
            headings: ["", "id", "name", "seen"], areNumbers: [false, false, false, false])
        columns.rows = machines.map {
            [
                $0.isThis ? "*" : " ", $0.id, $0.name.onOneLine,
                $0.seen > 0 ? LocalTime($0.seen).text : "",
            ]
        }
        for line in columns.lines { try SafeOutput.print(line) }
    }
}

struct RoamForget: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forgets a machine that does not come back.",
        discussion: """
            The values that it sent stay. If it comes back after all, it joins as a new machine: if \
            both sides have a value, the other machines' value wins, and its own is kept as a conflict.
            """)

    @Argument(help: "The machine: its ID, at least 4 characters of its start, or its name.")
    var machine: String

    /// Of a single character, a slip of a finger would make another machine.
    private static let shortestStart = 4

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        let service = RoamingService(on: defaults.connection)
        let found = try await service.machines().filter {
            $0.name == machine
                || machine.utf8.count >= Self.shortestStart && $0.id.hasPrefix(machine)
        }
        guard let only = found.first else { throw ToolError.noMachine(machine) }
        guard found.count == 1 else { throw ToolError.ambiguousMachine(machine, found.map(\.id)) }
        try await service.forget(only.id)
    }
}
