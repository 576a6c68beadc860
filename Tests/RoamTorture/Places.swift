import DBus
import DefaultsRoaming
import Foundation
import RoamingDirectory
import RoamingPostgres
import TestSupport

/// A kind of meeting place, and what can happen to it.
protocol TormentedPlace: Sendable {
    /// Whether the copy of a machine is noticed when it meets the place, and not only later.
    ///
    /// If copies go on for long under one name, and others replace what one of them has written, it may
    /// look to the other one as if its own was meant.
    var noticesCopies: Bool { get }
    /// An engine for a machine, as a new process makes it.
    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine
    /// Notes what a machine was called in its last round.
    func note(_ replica: ReplicaID, of machine: Int)
    /// The disk of a machine is about to be replaced by an old one.
    func prepareReplacing(diskOf machine: Int) throws
    /// Something happens to it.
    func disturb() async throws
    /// Makes a backup.
    func backUp() async throws
    /// Puts it back to the last backup, if it is of a kind that can be.
    ///
    /// - Returns: Whether there was one.
    func restore() async throws -> Bool
    /// Lets everything arrive.
    func settle() async throws
}

extension TormentedPlace {
    var noticesCopies: Bool { true }
    func note(_ replica: ReplicaID, of machine: Int) {}
    func prepareReplacing(diskOf machine: Int) throws {}
    func disturb() async throws {}
    func backUp() async throws {}
    func restore() async throws -> Bool { false }
    func settle() async throws {}
}

final class MemoryMeeting: TormentedPlace, @unchecked Sendable {
    private let place = MemoryPlace { Moment.now.wall }
    private var backup: MemoryPlace.Content?

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        MemoryEngine(at: place)
    }

    func backUp() async throws { backup = place.content }

    func restore() async throws -> Bool {
        guard let backup else { return false }
        place.restore(backup)
        return true
    }
}

/// Folders that a synchroniser keeps the same, which copies old files at any time.
final class FolderMeeting: TormentedPlace, @unchecked Sendable {
    let noticesCopies = false
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

    func note(_ replica: ReplicaID, of machine: Int) {
        synchroniser.note(replica, of: machine)
    }

    func prepareReplacing(diskOf machine: Int) throws {
        try synchroniser.copyLastFiles(of: machine)
    }

    func settle() async throws { try synchroniser.copyEverything() }
}

/// A PostgreSQL server whose connections are cut, and which ends as in a crash.
final class ServerMeeting: TormentedPlace, @unchecked Sendable {
    private let server: PostgresServer
    private var random: SeededGenerator
    private var backup: String?

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

    func backUp() async throws {
        if let backup { try FileManager.default.removeItem(atPath: backup) }
        try server.stop(.fast)
        backup = try server.backUp(as: "backup")
        try server.start()
    }

    func restore() async throws -> Bool {
        guard let backup else { return false }
        try server.stop(.immediate)
        try server.restore(backup)
        try server.start()
        return true
    }
}

/// A place at which all machines encrypt, with the same key.
struct SealedMeeting: TormentedPlace {
    private let place: any TormentedPlace
    private let key = MasterKey.random()
    var noticesCopies: Bool { place.noticesCopies }

    init(_ place: any TormentedPlace) {
        self.place = place
    }

    func engine(for machine: TormentedMachine, on loop: EventLoop) async throws -> any Engine {
        let engine = try await place.engine(for: machine, on: loop)
        return SealedEngine(engine, on: loop) { [key] _ in key }
    }

    func disturb() async throws { try await place.disturb() }
    func backUp() async throws { try await place.backUp() }
    func restore() async throws -> Bool { try await place.restore() }

    func note(_ replica: ReplicaID, of machine: Int) { place.note(replica, of: machine) }
    func prepareReplacing(diskOf machine: Int) throws {
        try place.prepareReplacing(diskOf: machine)
    }
    func settle() async throws { try await place.settle() }
}
