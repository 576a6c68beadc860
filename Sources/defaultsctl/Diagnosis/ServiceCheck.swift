import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc

/// Looks at the bus and at the service, which is started if a bus knows how.
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
        guard let loop = try? MainThread.loop ?? EventLoop.startThread(named: "defaultsctl") else {
            findings.append(
                .problem(
                    "service", "The search could not begin: the system gives no event loop.",
                    "Raise the limit of open files (ulimit -n), and run this command again."))
            return
        }
        let session: Connection?
        do {
            session = try await Connection.open(.session, on: loop)
            let address = Places.variable("DBUS_SESSION_BUS_ADDRESS")
            findings.append(.ok("bus", address ?? "that of the runtime directory"))
        } catch {
            session = nil
            findings.append(noBus((error as? DBusError)?.message ?? "\(error)"))
        }
        await lookForService(from: session, on: loop)
        await session?.close()
    }

    private func noBus(_ reason: String) -> Finding {
        let socket = places.runtime.map { "\($0)/bus" }
        let isNamed =
            Places.variable("DBUS_SESSION_BUS_ADDRESS").map { !$0.isEmpty } ?? false
            || socket.map { access($0, F_OK) == 0 } ?? false
        guard isNamed else {
            return .warning(
                "bus", "This session has no bus.",
                "In a graphical or systemd session there is one. Elsewhere: dbus-run-session.")
        }
        return .problem(
            "bus", "The session bus cannot be reached: \(reason)",
            "See that DBUS_SESSION_BUS_ADDRESS is that of your own session, or unset it.")
    }

    /// Searches for the service as every command does, which starts it if a bus knows how.
    private mutating func lookForService(from session: Connection?, on loop: EventLoop) async {
        switch await ServiceSearch(on: loop).run(with: session) {
        case .service(let connection):
            if connection !== session {
                findings.append(
                    .ok("bus", "The service is on the user's own bus, where commands find it."))
            }
            await look(at: RemoteDefaults(over: connection))
            if connection !== session { await connection.close() }
        case .failed(let error as ClientError):
            findings.append(
                .problem("service", error.message, "Its log: journalctl --user -u defaultsd"))
        case .failed(let error):
            findings.append(.problem("service", doesNotAnswer(error), Self.logAdvice))
        case .nobody where session == nil:
            findings.append(
                .warning(
                    "service", "None can be reached; each command runs a daemon for itself.",
                    "With a session bus one daemon serves all programs."))
        case .nobody:
            findings.append(
                .problem(
                    "service",
                    "No process owns \(Contract.busName), and the bus knows no program for it.",
                    "Install it (make install), below a directory that XDG_DATA_DIRS names. A "
                        + "bus that runs already reads the file when it is told to reload."))
        }
    }

    private static let logAdvice =
        "See what it says: systemctl --user status defaultsd, or run defaultsd in a terminal."

    private func doesNotAnswer(_ error: any Error) -> String {
        "It does not answer: \((error as? DBusError)?.message ?? "\(error)")"
    }

    private mutating func look(at defaults: RemoteDefaults) async {
        let connection = defaults.connection
        do {
            let status = try await defaults.status()
            process = await connection.processID(of: Contract.busName)
            directory = SystemFile.directory(of: status.databasePath)
            let isManaged = await Self.isManaged(on: connection)
            findings.append(contentsOf: program(status.version, isManaged: isManaged))
            findings.append(contentsOf: storage(status))
            findings.append(contentsOf: await upkeep(defaults, status))
            layerFiles = try? await defaults.layerFiles()
        } catch {
            findings.append(.problem("service", doesNotAnswer(error), Self.logAdvice))
        }
    }

    /// Whether systemd runs the service.
    private static func isManaged(on connection: Connection) async -> Bool {
        let unit = try? await ServiceUnit(on: connection)
        return await unit?.state()?.activeState == "active"
    }

    /// Whether it is the program that it is to be.
    private func program(_ version: String, isManaged: Bool) -> [Finding] {
        let again =
            isManaged
            ? "Restart it: systemctl --user restart defaultsd" : "Run: defaultsd --replace"
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
                    "Remove the installation that is not meant. \(again)")
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
