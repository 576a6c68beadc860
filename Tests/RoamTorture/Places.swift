import DBus
import DefaultsRoaming
import Foundation
import RoamingDirectory
import RoamingPostgres
import TestSupport

/// A kind of meeting place, and what can happen to it.
protocol TormentedPlace: Sendable {
    /// An engine for a machine, as a new process makes it.
    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine
    /// Something happens to it.
    func disturb() async throws
    /// Lets everything arrive.
    func settle(_ machines: [TormentedMachine]) async throws
}

struct MemoryMeeting: TormentedPlace {
    private let place = MemoryPlace { Moment.now.wall }

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        MemoryEngine(at: place)
    }

    func disturb() async throws {}
    func settle(_ machines: [TormentedMachine]) async throws {}
}

struct FolderMeeting: TormentedPlace {
    private let synchroniser: Synchroniser

    init(seed: UInt64) {
        synchroniser = Synchroniser(seed: seed)
    }

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        try DirectoryEngine(
            synchroniser.folder(of: machine.number),
            database: machine.databaseDirectory + "/roam.db",
            on: loop, clock: { machine.moment })
    }

    func disturb() async throws {
        for _ in 0..<4 { try synchroniser.copySomething() }
    }

    func settle(_ machines: [TormentedMachine]) async throws {
        var owners: [Int: ReplicaID] = [:]
        for machine in machines { owners[machine.number] = await machine.roamer?.replicaID }
        try synchroniser.copyEverything(owners: owners)
    }
}

/// A PostgreSQL server whose connections are cut, and which ends as in a crash.
final class ServerMeeting: TormentedPlace, @unchecked Sendable {
    private let server: PostgresServer
    private var random: SeededGenerator

    init(seed: UInt64, on loop: EventLoop) async throws {
        random = SeededGenerator(seed: seed)
        // What was acknowledged is on the disk, so that a crash loses nothing.
        server = try PostgresServer(options: ["fsync=on"])
        _ = try await ServerSetup.initialize(at: server.address(), on: loop)
        try await ServerSetup.addUser("ada", at: server.address(), on: loop)
    }

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        PostgresEngine(at: try ServerAddress(server.address("ada")), on: loop)
    }

    func disturb() async throws {
        if Int.random(in: 0..<10, using: &random) == 0 {
            try server.stop(.immediate)
            try server.start()
        } else {
            _ = server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ada'")
        }
    }

    func settle(_ machines: [TormentedMachine]) async throws {}
}

/// A place at which all machines encrypt, with the same key.
struct SealedMeeting: TormentedPlace {
    private let place: any TormentedPlace
    private let key = MasterKey.random()

    init(_ place: any TormentedPlace) {
        self.place = place
    }

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        let engine = try await place.engine(for: machine, on: loop)
        return SealedEngine(engine, on: loop) { [key] _ in key }
    }

    func disturb() async throws { try await place.disturb() }

    func settle(_ machines: [TormentedMachine]) async throws { try await place.settle(machines) }
}
