import DBus
import DefaultsClient
import DefaultsProtocol
import DefaultsRoaming
import Foundation
import KeyedArchive
import RoamingTerms
import TestSupport

/// A machine of a user: a bus, a daemon, a database, and a roaming service that may die at any step.
final class TormentedMachine: @unchecked Sendable {
    let number: Int
    let directory: TemporaryDirectory
    private let bus: PrivateBus
    private let programs: String
    private let loop: EventLoop
    private var daemon: ChildProcess?
    private(set) var defaults: RemoteDefaults
    private let connection: Connection
    var roamer: Roamer?
    var engine: (any Engine)?
    /// A day in microseconds.
    static let day: Int64 = 86_400_000_000
    /// How far the clock of the wall is off, in microseconds.
    var skew: Int64 = 0
    /// The start of the machine: a power cut makes another.
    private var boot = ReplicaID.random().bytes
    /// Up to which write of the ledger everything of this machine is on its disk.
    var durable = 0
    /// Up to which write of the ledger everything of this machine has left it.
    var exchanged = 0
    /// Whether its disk was replaced by an older one, or it joins again, and it has not exchanged everything
    /// since.
    var isBehind = false
    /// What roams.
    var choice: RoamChoice
    /// Copies of the disk are at this path with a number after it.
    private var copies = 0

    init(_ number: Int, programs: String, on loop: EventLoop) async throws {
        self.number = number
        self.programs = programs
        self.loop = loop
        choice = try .all()
        directory = try TemporaryDirectory()
        for folder in ["config", "runtime"] {
            try FileManager.default.createDirectory(
                atPath: directory.path + "/" + folder, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        bus = try PrivateBus()
        connection = try await Connection.open(.address(bus.address), on: loop)
        defaults = RemoteDefaults(over: connection)
        try await startDaemon()
    }

    var databaseDirectory: String { directory.path + "/config/defaultsd" }

    func startDaemon() async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = directory.path
        environment["XDG_CONFIG_HOME"] = directory.path + "/config"
        environment["XDG_RUNTIME_DIR"] = directory.path + "/runtime"
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(directory.path)/none"
        let empty = directory.path + "/none"
        daemon = try ChildProcess(
            [
                programs + "/defaultsd", "--managed", empty, "--recommended", empty, "--vendor",
                empty,
            ], environment: environment, error: .file(directory.path + "/log"))
        while try await !connection.hasOwner(of: Contract.busName) {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Ends the daemon with SIGKILL, and starts another.
    func killDaemon() async throws {
        daemon?.send(SIGKILL)
        _ = daemon?.waitUntilExit()
        try await startDaemon()
    }

    /// Ends everything, and takes what is not on the disk.
    ///
    /// - Parameter whileOff: What happens to the disk then.
    func cutPower(whileOff: () throws -> Void = {}) async throws {
        roamer = nil
        daemon?.send(SIGKILL)
        _ = daemon?.waitUntilExit()
        try? FileManager.default.removeItem(atPath: directory.path + "/runtime/defaultsd")
        try whileOff()
        boot = ReplicaID.random().bytes
        try await startDaemon()
    }

    /// Copies the disk.
    ///
    /// - Returns: The path of the copy.
    func copyDisk() async throws -> String {
        daemon?.send(SIGKILL)
        _ = daemon?.waitUntilExit()
        copies += 1
        let copy = directory.path + "/copy\(copies)"
        try FileManager.default.copyItem(atPath: databaseDirectory, toPath: copy)
        try await startDaemon()
        return copy
    }

    /// Replaces the disk by a copy, of this machine or another one.
    func putBack(_ copy: String) async throws {
        await engine?.close()
        engine = nil
        try await cutPower {
            try FileManager.default.removeItem(atPath: self.databaseDirectory)
            try FileManager.default.copyItem(atPath: copy, toPath: self.databaseDirectory)
        }
    }

    /// Ends everything, also what refers to this machine.
    func end() async {
        await engine?.close()
        (roamer, engine) = (nil, nil)
        daemon?.send(SIGKILL)
        _ = daemon?.waitUntilExit()
    }

    /// What time it is on this machine.
    var moment: Moment {
        let now = Moment.now
        return Moment(boot: boot, sinceBoot: now.sinceBoot, wall: now.wall + skew)
    }

    /// Sets a key to a text, or removes it.
    ///
    /// - Returns: What its writer saw; nil in the second place if somebody else changed it meanwhile.
    func write(_ text: String?, to key: RoamingKey) async throws -> (seen: String?, isMade: Bool) {
        var transaction = DefaultsTransaction()
        var seen: String?
        do {
            let (archive, generation) = try await defaults.archive(
                forKey: key.name, in: key.domain)
            seen = try KeyedArchiveDecoder().decode(String.self, from: archive)
            transaction.expected[key.name] = generation
        } catch let error as DefaultsError where error.code == .notFound {
            guard text != nil else { return (nil, false) }
            transaction.expected[key.name] = 0
        }
        if let text {
            transaction.set(key.name, to: try KeyedArchiveEncoder().encode(text))
        } else {
            transaction.remove(key.name)
        }
        do {
            try await defaults.apply(transaction, in: key.domain)
            return (seen, true)
        } catch let error as DefaultsError where error.code == .conflict {
            return (seen, false)
        }
    }

    /// Sets a key to an earlier text.
    func changeBack(to text: String, _ key: RoamingKey) async throws {
        var transaction = DefaultsTransaction()
        transaction.set(key.name, to: try KeyedArchiveEncoder().encode(text))
        try await defaults.apply(transaction, in: key.domain)
    }

    /// The texts of some domains.
    func values(of domains: [String]) async throws -> [RoamingKey: String] {
        var values: [RoamingKey: String] = [:]
        for domain in domains {
            for entry in try await defaults.entries(in: domain).entries {
                values[RoamingKey(domain: domain, name: entry.key)] =
                    try? KeyedArchiveDecoder().decode(String.self, from: entry.archive)
            }
        }
        return values
    }
}

extension RoamChoice {
    /// All keys of the torture but some.
    static func all(except keys: String...) throws -> RoamChoice {
        RoamChoice([("org.example.*", try KeyedArchiveEncoder().encode([RoamTerms.except: keys]))])
    }
}
