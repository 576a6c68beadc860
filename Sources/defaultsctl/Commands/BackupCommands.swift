import ArgumentParser
import DefaultsClient

/// `defaultsctl backup`: copies of everything, which the daemon also makes once a day.
struct BackupCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Lists, makes and restores backups.",
        subcommands: [List.self, Now.self, Restore.self])

    struct List: ServiceCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the backups, the newest first.",
            discussion: "Each with its name, local time, generation, size in bytes and kind.")

        @Flag(help: "Print a JSON array; dates are seconds since 1970.")
        var json = false

        func run(with defaults: RemoteDefaults) async throws {
            let backups = try await defaults.backups()
            if json {
                let objects = try backups.map(Self.object)
                return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
            }
            var columns = Columns(areNumbers: [false, false, true, true, false])
            columns.rows = backups.map {
                [$0.name, LocalTime($0.date).text, "\($0.generation)", "\($0.size)", $0.kind]
            }
            for line in columns.lines { try SafeOutput.print(line) }
        }

        private static func object(_ backup: RemoteBackup) throws -> String {
            try ShownJSON.object([
                ("name", backup.name.quoted), ("date", "\(backup.date)"),
                ("generation", "\(backup.generation)"), ("size", "\(backup.size)"),
                ("kind", backup.kind.quoted),
            ])
        }
    }

    struct Now: ServiceCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a backup, verifies it, and prints its name.")

        @Flag(help: "Print a JSON object.")
        var json = false

        func run(with defaults: RemoteDefaults) async throws {
            let name = try await defaults.backUp()
            try SafeOutput.print(json ? ShownJSON.object([("name", name.quoted)]) : name)
        }
    }

    struct Restore: ServiceCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes everything as it is in a backup.",
            discussion: """
                Applications see it at once, as changes. A backup of what was there before is made \
                first: restoring that one undoes it.
                """)

        @Argument(
            help: ArgumentHelp(
                "The backup: its name, the beginning of it, or 'latest'.", valueName: "backup"))
        var name: String

        @Flag(help: "Print a JSON object.")
        var json = false

        func run(with defaults: RemoteDefaults) async throws {
            let backup = try find(in: try await defaults.backups())
            let outcome = try await defaults.restoreBackup(backup.name)
            if json { return try SafeOutput.print(Self.object(backup.name, outcome)) }
            try SafeOutput.print(
                "\(backup.name): \(outcome.set) keys set, \(outcome.removed) removed")
            if outcome.damaged > 0 {
                try SafeOutput.print(
                    "\(outcome.damaged) values in it are damaged; their keys are as they were, "
                        + "and no others were removed")
            }
            if outcome.locked > 0 {
                try SafeOutput.print(
                    "\(outcome.locked) locked by the administrator, and left as they are")
            }
            try SafeOutput.print(
                outcome.undo.isEmpty
                    ? "the database was damaged, and there is no backup that undoes this"
                    : "to undo: defaultsctl backup restore \(outcome.undo)")
        }

        private static func object(_ name: String, _ outcome: RestorationOutcome) throws -> String {
            try ShownJSON.object([
                ("name", name.quoted), ("set", "\(outcome.set)"),
                ("removed", "\(outcome.removed)"), ("damaged", "\(outcome.damaged)"),
                ("locked", "\(outcome.locked)"),
                ("undo", outcome.undo.isEmpty ? "null" : outcome.undo.quoted),
            ])
        }

        private func find(in backups: [RemoteBackup]) throws -> RemoteBackup {
            // Every name begins with nothing.
            guard !name.isEmpty else { throw ToolError.noBackup(name) }
            let found =
                name == "latest"
                ? Array(backups.prefix(1)) : backups.filter { $0.name.hasPrefix(name) }
            if let exact = found.first(where: { $0.name == name }) { return exact }
            guard let backup = found.first else { throw ToolError.noBackup(name) }
            guard found.count == 1 else { throw ToolError.severalBackups(name, found.count) }
            return backup
        }
    }
}
