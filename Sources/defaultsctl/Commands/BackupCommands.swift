import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc
import SystemCalls
import Wording

/// `defaultsctl backup`: backups of everything.
///
/// The daemon also makes one every day.
struct BackupCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Lists, makes and restores backups.",
        subcommands: [List.self, Now.self, Restore.self])

    struct List: ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Lists the backups, the newest first.",
            discussion: """
                Each line shows the name, local time, generation, size in bytes and kind. To take the \
                values to another machine, copy a file that --paths prints, and give it to 'backup \
                restore' there.
                """)

        @Flag(help: "Print a JSON array. Dates are in ISO 8601 and UTC.")
        var json = false

        @Flag(help: "Print the path of each file instead, one on each line.")
        var paths = false

        func validate() throws {
            if json, paths { throw ValidationError("--json has the paths, too. Omit --paths.") }
        }

        func run(with defaults: RemoteDefaults) async throws {
            let backups = try await defaults.backups()
            let directory = try await Self.directory(of: defaults)
            if json {
                let objects = try backups.map { try Self.object($0, in: directory) }
                return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
            }
            if paths {
                for backup in backups { try SafeOutput.print(Self.path(of: backup, in: directory)) }
                return
            }
            var columns = Columns(
                headings: ["name", "time", "generation", "bytes", "kind"],
                areNumbers: [false, false, true, true, false])
            columns.rows = backups.map {
                [$0.name, LocalTime($0.date).text, "\($0.generation)", "\($0.size)", $0.kind]
            }
            for line in columns.lines { try SafeOutput.print(line) }
        }

        /// The directory of the backups, which is beside the database.
        private static func directory(of defaults: RemoteDefaults) async throws -> String {
            let database = try await defaults.status().databasePath
            return database.prefix(through: database.lastIndex(of: "/") ?? database.startIndex)
                + "backups"
        }

        private static func path(of backup: RemoteBackup, in directory: String) -> String {
            "\(directory)/\(backup.name).db"
        }

        private static func object(
            _ backup: RemoteBackup, in directory: String
        ) throws -> String {
            try ShownJSON.object([
                ("name", backup.name.quoted), ("date", UniversalTime(backup.date).text.quoted),
                ("generation", "\(backup.generation)"), ("size", "\(backup.size)"),
                ("kind", backup.kind.quoted), ("path", path(of: backup, in: directory).quoted),
            ])
        }
    }

    struct Now: ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "now",
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
            commandName: "restore",
            abstract: "Restores everything, or some domains, from a backup.",
            discussion: """
                Applications see the restored values at once, as changes. Before the first change, \
                a backup of the current values is made. Restore that backup to undo the \
                restoration. 'latest' is the newest backup that was not made for undoing. The file \
                of a backup may come from another machine. Locked keys are left unchanged. When \
                the command returns, everything is on disk. Exit status: 0, or 1 if it failed; \
                some domains may then have been restored, and the error says how many keys.
                """)

        @Argument(
            help: ArgumentHelp(
                "The backup: its name, the start of its name, 'latest', or a file with a / or .db.",
                valueName: "backup"))
        var name: String

        @Option(
            parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Restore only this domain, in all its layers. Can be given several times.",
                valueName: "domain"))
        var domain: [String] = []

        @Flag(help: "Change nothing, and print what would change.")
        var dryRun = false

        @Flag(help: "Print a JSON object.")
        var json = false

        @Flag(help: "Print 'changed' or 'unchanged'.")
        var changed = false

        @Flag(help: "Accepted for consistency: a restore always waits for the disk.")
        var wait = false

        @Flag(help: "Accepted for consistency: a restore never changes locked keys.")
        var skipLocked = false

        func validate() throws {
            if json, changed {
                throw ValidationError("--json includes what --changed prints. Give one of them.")
            }
            if dryRun, changed {
                throw ValidationError(
                    "--dry-run changes nothing, so --changed has no meaning. Give one of them.")
            }
        }

        func run(with defaults: RemoteDefaults) async throws {
            let domains = try domain.domainNames()
            let (source, outcome) = try await restore(domains, on: defaults)
            if json { return try SafeOutput.print(json: Self.object(source, outcome)) }
            if changed {
                let isChanged = outcome.set > 0 || outcome.removed > 0
                return try SafeOutput.print(isChanged ? "changed" : "unchanged")
            }
            guard !dryRun else { return try SafeOutput.print(Self.plan(source, outcome)) }
            // A backup of another machine has values for that one.
            let machines = try? await UnnamedMachines(knownTo: defaults)
            try SafeOutput.print(
                Self.text(source, outcome, [machines?.fact, machines?.advice].compactMap(\.self)))
        }

        /// - Returns: The name of what was restored, for messages, and the outcome.
        private func restore(
            _ domains: [String], on defaults: RemoteDefaults
        ) async throws -> (source: String, outcome: RestorationOutcome) {
            let isFile = name.contains("/") || name.hasSuffix(".db")
            guard !isFile else {
                let path = try Self.realPath(of: name)
                return (
                    path,
                    try await defaults.restore("", at: path, domains: domains, isDry: dryRun)
                )
            }
            let backup = try find(in: try await defaults.backups())
            // An older service can only restore everything.
            let outcome =
                domains.isEmpty && !dryRun
                ? try await defaults.restoreBackup(backup.name)
                : try await defaults.restore(
                    backup.name, at: "", domains: domains, isDry: dryRun)
            return (backup.name, outcome)
        }

        /// The absolute path, because the service has another working directory.
        private static func realPath(of path: String) throws(ToolError) -> String {
            let file: String
            do throws(SystemError) {
                file = try Path.real(path)
            } catch {
                throw .input(path, "It cannot be read: \(error.reason).")
            }
            guard FileStatus.ifAny(file)?.kind == .regular else {
                throw .input(path, "It is not a regular file, so it cannot be a backup.")
            }
            return file
        }

        private func find(in backups: [RemoteBackup]) throws -> RemoteBackup {
            // Every name begins with an empty text.
            guard !name.isEmpty else { throw ToolError.noBackup(name) }
            let found =
                name == "latest"
                ? Array(backups.filter { $0.kind != "undo" }.prefix(1))
                : backups.filter { $0.name.hasPrefix(name) }
            if let exact = found.first(where: { $0.name == name }) { return exact }
            guard let backup = found.first else { throw ToolError.noBackup(name) }
            guard found.count == 1 else { throw ToolError.severalBackups(name, found.count) }
            return backup
        }
    }
}

// MARK: The outcome of a restoration

extension BackupCommands.Restore {
    private static func text(
        _ source: String, _ outcome: RestorationOutcome, _ others: [String]
    ) -> String {
        let total = "\(source.onOneLine): \(counts(outcome.set, outcome.removed))"
        return ([total] + remarks(outcome) + others + [undoing(outcome)]).joined(separator: "\n")
    }

    private static func undoing(_ outcome: RestorationOutcome) -> String {
        if !outcome.undo.isEmpty { return "to undo: defaultsctl backup restore \(outcome.undo)" }
        return outcome.set == 0 && outcome.removed == 0
            ? "nothing had to be changed, so there is nothing to undo"
            : "the database was damaged, so there is no backup that can undo this"
    }

    private static func plan(_ source: String, _ outcome: RestorationOutcome) -> String {
        let domains = outcome.changes.map {
            let locked = $0.locked == 0 ? "" : ", \($0.locked) locked"
            return "  \($0.domain): \(counts($0.set.count, $0.removed.count))\(locked)"
        }
        let total =
            "\(source.onOneLine): \(counted(outcome.set, "key")) would be set, "
            + "\(outcome.removed) removed"
        return ([total] + domains + remarks(outcome)).joined(separator: "\n")
    }

    private static func counts(_ set: some BinaryInteger, _ removed: some BinaryInteger) -> String {
        "\(counted(set, "key")) set, \(removed) removed"
    }

    private static func remarks(_ outcome: RestorationOutcome) -> [String] {
        var remarks: [String] = []
        if outcome.damaged > 0 {
            remarks.append(
                outcome.damaged == 1
                    ? "1 value in the backup is damaged; its key was left unchanged, and no other key was removed"
                    : "\(outcome.damaged) values in the backup are damaged; their keys were left unchanged, and "
                        + "no other key was removed")
        }
        if outcome.locked > 0 {
            remarks.append(
                "\(counted(outcome.locked, "key")) locked by the administrator, left unchanged")
        }
        return remarks
    }

    private static func object(_ source: String, _ outcome: RestorationOutcome) throws -> String {
        let changes = try outcome.changes.map { change in
            func list(_ names: [String]) throws -> String {
                "[\(try names.map { try $0.quoted }.joined(separator: ","))]"
            }
            return try ShownJSON.object([
                ("domain", change.domain.quoted), ("set", list(change.set)),
                ("removed", list(change.removed)), ("locked", "\(change.locked)"),
            ])
        }
        return try ShownJSON.object(
            [
                ("name", source.quoted), ("set", "\(outcome.set)"),
                ("removed", "\(outcome.removed)"), ("damaged", "\(outcome.damaged)"),
                ("locked", "\(outcome.locked)"),
                ("undo", outcome.undo.isEmpty ? "null" : outcome.undo.quoted),
            ] + (changes.isEmpty ? [] : [("changes", "[\(changes.joined(separator: ","))]")]))
    }
}
