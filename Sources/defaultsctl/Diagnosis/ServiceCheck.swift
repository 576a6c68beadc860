import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc

/// Looks at the bus and at the service, which it has started where that is the bus's to do.
struct ServiceCheck {
    let places: Places
    private(set) var findings: [Finding] = []
    /// The process of the service; nil where none answers.
    private(set) var process: UInt32?
    /// The directory that the service says it has; nil where none answers.
    private(set) var directory: String?
    /// The files of the layers; nil where none answers, or it does not tell.
    private(set) var layerFiles: [RemoteLayerFile]?

    init(_ places: Places) async {
        self.places = places
        let defaults: RemoteDefaults
        do {
            defaults = try await RemoteDefaults.connectToSession()
        } catch {
            findings.append(noBus((error as? DBusError)?.message ?? "\(error)"))
            return
        }
        let address = Places.variable("DBUS_SESSION_BUS_ADDRESS")
        findings.append(.ok("bus", address ?? "that of the runtime directory"))
        await look(at: defaults)
        await defaults.close()
    }

    private func noBus(_ reason: String) -> Finding {
        let socket = places.runtime.map { "\($0)/bus" }
        let isNamed =
            Places.variable("DBUS_SESSION_BUS_ADDRESS").map { !$0.isEmpty } ?? false
            || socket.map { access($0, F_OK) == 0 } ?? false
        guard isNamed else {
            return .warning(
                "bus", "There is no session bus; each command runs a daemon for itself.",
                "In a graphical or systemd session there is one. Elsewhere: dbus-run-session.")
        }
        return .problem(
            "bus", "The session bus cannot be reached: \(reason)",
            "See that DBUS_SESSION_BUS_ADDRESS is that of your own session, or unset it.")
    }

    private mutating func look(at defaults: RemoteDefaults) async {
        do {
            let connection = defaults.connection
            let isServed = try await connection.hasOwner(of: Contract.busName)
            let isKnown = try await connection.canActivate(Contract.busName)
            guard isServed || isKnown else {
                return findings.append(
                    .problem(
                        "service",
                        "Nobody is \(Contract.busName), and the bus knows of no program.",
                        "Install it (make install), below a directory that XDG_DATA_DIRS names. A "
                            + "bus that was there before reads the file when it is told to reload.")
                )
            }
            let status = try await defaults.status()
            process = await connection.processID(of: Contract.busName)
            directory = SystemFile.directory(of: status.databasePath)
            findings.append(contentsOf: program(status.version))
            findings.append(contentsOf: storage(status))
            findings.append(contentsOf: await upkeep(defaults, status))
            layerFiles = try? await defaults.layerFiles()
        } catch {
            findings.append(
                .problem(
                    "service",
                    "It does not answer: \((error as? DBusError)?.message ?? "\(error)")",
                    "See what it says: systemctl --user status defaultsd, or run defaultsd by hand."
                ))
        }
    }

    /// Whether it is the program that it is to be.
    private func program(_ version: String) -> [Finding] {
        let again = "systemctl --user restart defaultsd, or run: defaultsd --replace"
        guard version == Version.current else {
            return [
                .warning(
                    "service", "It is version \(version), this program \(Version.current).", again)
            ]
        }
        let file = process.flatMap { SystemFile.target(of: "/proc/\($0)/exe") }
        if let file, file.hasSuffix(" (deleted)") {
            return [
                .warning("service", "Its program was replaced since it was started.", again)
            ]
        }
        if let file, let own = DaemonProgram.find(), !SystemFile.areSame(file, own) {
            return [
                .warning(
                    "service", "It runs \(file); beside this program is \(own).",
                    "Remove the installation that is not meant; then \(again)")
            ]
        }
        let name = process.map { "process \($0)" } ?? "a process"
        return [.ok("service", "version \(version), \(name)\(file.map { ", \($0)" } ?? "")")]
    }

    private func storage(_ status: ServiceStatus) -> [Finding] {
        var findings: [Finding] = []
        if !status.storageError.isEmpty {
            findings.append(
                .problem(
                    "storage", status.storageError,
                    "Nothing acknowledged is lost while the session lasts. Mend the disk or make "
                        + "room; it is tried again every minute."))
        } else {
            findings.append(
                .ok(
                    "storage",
                    status.pendingChanges == 0
                        ? "Everything is on disk."
                        : "\(Amount.of(status.pendingChanges, "change")) not on disk yet."))
        }
        if let expected = places.database, let directory, expected != directory,
            !SystemFile.areSame(expected, directory)
        {
            findings.append(
                .warning(
                    "environment",
                    "The service has \(directory), and the variables here name "
                        + "\(expected).", "The service has the environment of the session."))
        }
        return findings
    }

    private func upkeep(
        _ defaults: RemoteDefaults, _ status: ServiceStatus
    ) async -> [Finding] {
        guard let facts = try? await defaults.facts() else { return [] }
        var findings: [Finding] = []
        if let fileSystem = facts.fileSystem {
            findings.append(
                fileSystem.isNetwork
                    ? .warning(
                        "file system",
                        "\(fileSystem.name), a network's: its server keeps the lock "
                            + "and decides when a write outlives a power cut.",
                        "Where that matters, keep the database on a local disk.")
                    : .ok("file system", fileSystem.name))
        }
        if let backups = try? await defaults.backups() {
            findings.append(BackupCheck(backups, durable: status.durableGeneration).finding)
        }
        return findings
    }
}

/// Looks at the age of the newest backup.
struct BackupCheck {
    let finding: Finding

    /// A daily one follows a change, so that one is old where there was none since.
    private static let longestAge: UInt64 = 2 * 86400

    init(_ backups: [RemoteBackup], durable generation: UInt64) {
        guard let newest = backups.first else {
            finding = .ok("backups", "There is none yet; the first is made after a change.")
            return
        }
        let now = UInt64(clamping: time(nil))
        let age = now < newest.date ? 0 : now - newest.date
        let words = "\(backups.count), the newest of \(LocalTime(newest.date).text)"
        finding =
            age > Self.longestAge && newest.generation < generation
            ? .warning(
                "backups", "\(words), and there were changes since.",
                "The log says why none was made; make one: defaultsctl backup now")
            : .ok("backups", words)
    }
}
