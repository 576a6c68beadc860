import DBus
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import SystemCalls
import Wording

/// Checks the bus and the service.
///
/// If the bus can start the service, this starts it.
struct ServiceCheck {
    let places: Places
    /// The bus that does not answer, which is the cause of much else; nil if it answers, or if there is
    /// none.
    private(set) var silentBus: Finding?
    private(set) var findings: [Finding] = []
    /// The process of the service; nil if there is no answer.
    private(set) var process: UInt32?
    /// The directory of the service's database; nil if there is no answer.
    private(set) var directory: String?
    /// The files of the layers; nil if there is no answer, or if the service does not list them.
    private(set) var layerFiles: [RemoteLayerFile]?

    /// How long a service may take to start or to answer.
    private static let patience = Duration.seconds(2)

    init(_ places: Places) async {
        self.places = places
        guard let loop = Defaultsctl.console.loop else {
            findings.append(
                .problem(
                    "service", "This program has no event loop to call it.", "Report this as a bug."
                ))
            return
        }
        do {
            let session = try await Connection.open(.session, on: loop)
            let address = Defaultsctl.console.variable("DBUS_SESSION_BUS_ADDRESS")
            findings.append(.ok("bus", address ?? "the one in the runtime directory"))
            await lookForService(from: session, on: loop)
            await session.close()
        } catch let error as DBusError where error.name == .timeout {
            silentBus = .problem(
                "bus", error.message,
                "See whether its process is stopped: systemctl --user status dbus. Until it answers, no "
                    + "program can start the service or find it by its name.")
            await lookBesideBus(on: loop)
        } catch {
            let hasService = await lookForService(from: nil, after: error, on: loop)
            let reason = (error as? DBusError)?.message ?? "\(error)"
            findings.insert(noBus(reason, isNeeded: !hasService), at: 0)
        }
    }

    /// - Parameter isNeeded: Whether no service was found elsewhere.
    private func noBus(_ reason: String, isNeeded: Bool) -> Finding {
        let socket = places.runtime.map { "\($0)/bus" }
        let isNamed =
            Defaultsctl.console.variable("DBUS_SESSION_BUS_ADDRESS").map { !$0.isEmpty } ?? false
            || socket.map { access($0, F_OK) == 0 } ?? false
        guard isNamed else {
            return .warning(
                "bus", "This session has no bus.",
                "Graphical and systemd sessions have one. Elsewhere, use dbus-run-session.")
        }
        let message = "The session bus cannot be reached: \(reason)"
        let advice = "Set DBUS_SESSION_BUS_ADDRESS to the address of your own session, or unset it."
        return isNeeded ? .problem("bus", message, advice) : .warning("bus", message, advice)
    }

    /// Searches for the service as every command does.
    ///
    /// If the bus can start it, this starts it.
    ///
    /// - Parameters:
    ///   - session: The bus of the session; nil if it cannot be used.
    ///   - failure: Why not.
    /// - Returns: Whether there is one.
    @discardableResult
    private mutating func lookForService(
        from session: Connection?, after failure: (any Error)? = nil, on loop: EventLoop
    ) async -> Bool {
        let search = ServiceSearch(on: loop, startPatience: Self.patience)
        let outcome =
            if let failure { await search.run(after: failure) } else {
                await search.run(with: session)
            }
        switch outcome {
        case .service(let connection):
            if connection !== session {
                findings.append(
                    .ok(
                        "bus", "The service is on another bus of this user. Commands find it there."
                    ))
            }
            await look(at: RemoteDefaults(over: connection))
            if connection === session, directory != nil, let runtime = places.runtime {
                findings.append(await socket(in: runtime, on: loop))
            }
            if connection !== session { await connection.close() }
            return true
        case .failed(let error as DefaultsError):
            findings.append(
                .problem("service", error.message, "Read its log: journalctl --user -u defaultsd"))
        case .failed(let error):
            findings.append(
                .problem(
                    "service", "It does not start: \((error as? DBusError)?.message ?? "\(error)")",
                    "Run defaultsd in a terminal to see the reason."))
        case .nobody: findings.append(nobody(hasBus: session != nil))
        }
        return false
    }

    /// Looks at the service that can be reached although the bus does not answer.
    private mutating func lookBesideBus(on loop: EventLoop) async {
        guard let direct = await RemoteDefaults.connectDirectly(for: .session, on: loop) else {
            findings.append(
                .problem(
                    "service", "It cannot be found while the bus does not answer.",
                    "Repair the bus, and run this command again."))
            return
        }
        findings.append(Self.socketWorks)
        await look(at: direct)
        await direct.close()
    }

    private func nobody(hasBus: Bool) -> Finding {
        if hasBus {
            return .problem(
                "service",
                "No process owns \(Contract.busName), and the bus has no activation file for it.",
                "Install it (make install) into a directory that XDG_DATA_DIRS names. A "
                    + "running bus reads the file when it reloads its configuration.")
        }
        guard DaemonProgram.find() != nil else {
            return .problem(
                "service", "No service can be reached, and defaultsd is not installed.",
                "Install both programs into the same directory (make install).")
        }
        return .warning(
            "service", "No service can be reached, so each program runs its own daemon.",
            "With a session bus, one daemon serves all programs.")
    }

    private mutating func look(at defaults: RemoteDefaults) async {
        let connection = defaults.connection
        process = await connection.processID(of: Contract.busName)
        let isManaged = await Self.isManaged(on: connection)
        do {
            let status = try await defaults.status(within: Self.patience)
            directory = Path.parent(of: status.databasePath)
            findings.append(contentsOf: program(status.version, isManaged: isManaged))
            findings.append(contentsOf: storage(status))
            findings.append(contentsOf: await upkeep(defaults, status))
            layerFiles = try? await defaults.layerFiles()
        } catch {
            findings.append(
                .problem(
                    "service",
                    "\(process.map { "Process \($0)" } ?? "A process") owns \(Contract.busName) and does "
                        + "not answer: \((error as? DBusError)?.message ?? "\(error)")",
                    isManaged
                        ? "If this continues: systemctl --user restart defaultsd"
                        : "It may be stopped, or the disk may be very slow. If this continues, end the session."
                ))
        }
    }

    /// Checks whether the service can be reached without the bus.
    private func socket(in runtime: String, on loop: EventLoop) async -> Finding {
        guard let direct = await RemoteDefaults.connectDirectly(for: .session, on: loop) else {
            return .warning(
                "socket",
                "The service cannot be reached by \(runtime)/defaultsd/direct, so programs use the "
                    + "bus.",
                "Restart it. With systemd: systemctl --user restart defaultsd.socket. Otherwise: "
                    + "defaultsd --replace.")
        }
        await direct.close()
        return Self.socketWorks
    }

    private static let socketWorks = Finding.ok(
        "socket", "Programs reach the service without the bus.")

    /// Whether systemd runs the service.
    private static func isManaged(on connection: Connection) async -> Bool {
        let unit = try? await ServiceUnit(on: connection)
        return await unit?.state()?.activeState == "active"
    }

    /// Checks whether it runs the expected program.
    private func program(_ version: String, isManaged: Bool) -> [Finding] {
        let again =
            isManaged
            ? "Restart it: systemctl --user restart defaultsd" : "Run: defaultsd --replace"
        guard version == Version.current else {
            return [
                .warning(
                    "service",
                    "It has version \(version), but this program has version \(Version.current).",
                    again)
            ]
        }
        let file = process.flatMap { Path.target(ofLink: "/proc/\($0)/exe") }
        if let file, file.hasSuffix(" (deleted)") {
            return [
                .warning("service", "Its program was replaced after the start.", again)
            ]
        }
        if let file, let own = DaemonProgram.find(), !FileIdentity.areSame(file, own) {
            return [
                .warning(
                    "service", "It runs \(file), but \(own) is beside this program.",
                    "Remove the installation that you do not want. \(again)")
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
                    "Acknowledged changes are safe until the session ends. Repair the disk or make "
                        + "room. The daemon retries every minute."))
        } else {
            findings.append(
                .ok(
                    "storage",
                    status.pendingChanges == 0
                        ? "Everything is on disk."
                        : "\(counted(status.pendingChanges, "change")) not on disk yet."))
        }
        if let expected = places.database, let directory, expected != directory,
            !FileIdentity.areSame(expected, directory)
        {
            findings.append(
                .warning(
                    "environment",
                    "The service uses \(directory), but the variables here name "
                        + "\(expected).", "The service uses the environment of the session."))
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
                        "\(fileSystem.name), a network file system: its server keeps the lock "
                            + "and decides when a write survives a power cut.",
                        "If that matters, keep the database on a local disk.")
                    : .ok("file system", fileSystem.name))
        }
        if let backups = try? await defaults.backups() {
            findings.append(BackupCheck(backups, durable: status.durableGeneration).finding)
        }
        if let machines = try? await UnnamedMachines(knownTo: defaults), let fact = machines.fact,
            let advice = machines.advice
        {
            findings.append(.warning("hosts", fact, advice))
        }
        return findings
    }
}

/// Checks the age of the newest backup.
struct BackupCheck {
    let finding: Finding

    /// A daily backup follows a change.
    ///
    /// So an old one is fine if there was no change since.
    private static let longestAge: UInt64 = 2 * 86400

    init(_ backups: [RemoteBackup], durable generation: UInt64) {
        guard let newest = backups.first else {
            finding = .ok("backups", "There is none yet. The first is made after a change.")
            return
        }
        let now = UInt64(clamping: Defaultsctl.console.now.tv_sec)
        let age = now < newest.date ? 0 : now - newest.date
        let words = "\(backups.count), the newest of \(LocalTime(newest.date).text)"
        finding =
            age > Self.longestAge && newest.generation < generation
            ? .warning(
                "backups", "\(words), but there were changes since then.",
                "The log says why none was made. To make one: defaultsctl backup now")
            : .ok("backups", words)
    }
}
