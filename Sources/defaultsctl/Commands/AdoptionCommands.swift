import ArgumentParser
import DefaultsClient

/// The doors that a command is about.
struct DoorArguments: ParsableArguments {
    @Argument(help: "The services: \(Self.names), or all; without any, all.")
    var services: [String] = []

    @Flag(help: "Change nothing, and say what would be done.")
    var dryRun = false

    /// Whether the user has named them, and not all.
    var areNamed: Bool { !services.isEmpty && !services.contains("all") }

    /// The doors that are meant.
    var kinds: [any DesktopDoor.Type] {
        DesktopDoors.all.filter {
            services.isEmpty || services.contains("all") || services.contains($0.name)
        }
    }

    private static var names: String { DesktopDoors.names.joined(separator: ", ") }

    func validate() throws {
        for service in services where service != "all" && !DesktopDoors.names.contains(service) {
            throw ValidationError(
                "There is no service '\(service.onOneLine)'. Give \(Self.names) or all.")
        }
    }
}

struct Adopt: ServiceCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "adopt",
            abstract: "Lets unmodified programs of desktops use defaultsd.",
            discussion: """
                Imports what the programs have stored so far, and takes the place of their settings \
                service: \(DesktopDoors.summaries). The user's files of xfconfd stay as they are; that \
                of dconf shows the database while dconf is adopted. Programs that choose their service \
                when they start are named, and their later changes are imported by the next run. An \
                interrupted run can be repeated. 'defaultsctl release' leads back.
                """)
    }

    @OptionGroup var doors: DoorArguments

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        try await Adoption.forEach(of: doors.kinds, with: defaults) {
            guard doors.areNamed || $0.isPossible else { return $0.impossibility }
            return doors.dryRun ? try $0.plan() : try await $0.adopt()
        }
    }
}

struct Release: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Takes programs of desktops back to their own settings service.",
        discussion: """
            Writes all values into the files of that service, and gives it its place back. The \
            values in the database stay. An interrupted run can be repeated.
            """)

    @OptionGroup var doors: DoorArguments

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        try await Adoption.forEach(of: doors.kinds, with: defaults) {
            doors.dryRun ? try await $0.releasePlan() : try await $0.release()
        }
    }
}
