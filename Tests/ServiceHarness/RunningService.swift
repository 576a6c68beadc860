import DefaultsFiles
import DefaultsProtocol
import Glibc
import Logging
import Synchronization
import SystemCalls

@testable import DBus
@testable import DefaultsCore
@testable import DefaultsService
@testable import DefaultsStorage

/// A service from its start to its end, as in one process.
final class RunningService: Sendable {
    /// The program at the other end of `connection`.
    let peer: TestCaller
    let service: Service
    let stage: Stage
    private let connection: Connection
    private let place: TestPlace
    private let callers = Atomic<UInt32>(0)

    private init(
        _ service: Service, _ connection: Connection, _ peer: TestCaller, on stage: Stage,
        in place: TestPlace
    ) {
        self.service = service
        self.connection = connection
        self.peer = peer
        self.stage = stage
        self.place = place
    }

    static func start(
        in place: TestPlace, on machine: TestMachine? = nil, logging lines: LogLines
    ) async throws -> RunningService {
        let stage = try Stage()
        let (loop, logger) = (stage.loop, lines.logger)
        let (ours, theirs) = try UnixSocket.pair()
        let connection = try await loop.run { try Connection(serving: ours, on: loop) }
        stage.add(connection)
        await connection.admitOwnUser(by: ProcessExaminer(), logger: logger)
        let service = try await loop.run {
            try Service.make(in: place, on: connection, machine: machine, logger: logger)
        }
        stage.note(service)
        await Task(executorPreference: loop) { await service.start() }.value
        let peer = try await TestCaller(calling: theirs, as: "", on: stage)
        await stage.settle()
        return RunningService(service, connection, peer, on: stage, in: place)
    }

    /// Connects a program, whose signals and replies are noted.
    func caller(_ kind: TestCaller.Kind) async throws -> TestCaller {
        let (socket, name) = try await admit(kind)
        return try await TestCaller(calling: socket, as: name, on: stage)
    }

    /// Lets a program in, as the daemon's own socket does, with credentials that are given.
    ///
    /// - Returns: Its end of the socket, and its name.
    func admit(_ kind: TestCaller.Kind) async throws -> (socket: FileDescriptor, name: String) {
        let number = callers.add(1, ordering: .relaxed).newValue
        let name = ":direct.\(number)"
        let (ours, theirs) = try UnixSocket.pair()
        let credentials = kind.credentials(number)
        let (connection, loop) = (connection, stage.loop)
        let served = try await loop.run {
            try Connection(serving: ours, named: name, as: credentials, like: connection, on: loop)
        }
        stage.add(served)
        return (theirs, name)
    }

    /// Ends in order.
    func stop() async throws {
        await stage.settle()
        try stage.checkNobodyWaits()
        let (service, stage) = (service, stage)
        try await Task(executorPreference: stage.loop) { try await service.stop() }.value
        let areTimersLeft = try await stage.loop.run {
            defer { stage.end() }
            return stage.loop.timers.nextDeadline != nil
        }
        if areTimersLeft { throw StillWaiting(names: ["a timer"]) }
    }

    /// Ends as if the process had been killed.
    func drop() async throws {
        await stage.settle()
        try await stage.loop.run { [stage, place, service] in
            defer { stage.end() }
            try place.detachFiles()
            service.assumeIsolated { $0.settings.leaveFiles() }
        }
    }
}

extension Settings {
    /// Gives up what the system would take back from a process.
    ///
    /// The old files can no longer be found.
    fileprivate func leaveFiles() {
        memory.end()
        layerSchedule.end()
        store.database.close()
        // Its thread may stand still for as long as the test holds the disk.
        Task { [writer = store.writer] in await writer.close() }
    }
}

extension Service {
    /// Makes a service with the files of a test; on the loop's thread.
    static func make(
        in place: TestPlace, on connection: Connection, machine: TestMachine? = nil,
        doors: [any Door.Type] = [], logger: Logger
    ) throws -> Service {
        let database = try place.openDatabase(on: machine) { logger.notice("\($0)") }
        let writer = try database.makeWriter()
        return Service(
            on: connection, with: database, writer,
            layers: FileLayers(in: place.layers, problemLevel: .warning), doors: doors,
            beside: place.location, examiner: ProcessExaminer(), logger: logger,
            abandon: { logger.critical("The service gives up: \($0)") })
    }
}

extension Connection {
    /// Serves a program like `PeerListener`.
    ///
    /// - Parameter credentials: Who it is said to be.
    init(
        serving socket: FileDescriptor, named name: String, as credentials: PeerCredentials?,
        like service: Connection, on loop: EventLoop
    ) throws {
        let link = Link(accepted: try Link.open(serving: socket), patience: .init(), on: loop)
        try self.init(link, peerName: name, sharing: service.calls)
        let objects = service.assumeIsolated { $0.objects }
        assumeIsolated { connection in
            connection.objects = objects
            guard let peer = connection.callers.peer else { return }
            connection.identify(peer, as: credentials, refusing: service.calls.judge)
        }
    }
}

extension UnixSocket {
    /// Two sockets that are connected to each other.
    static func pair() throws -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemError(call: "socketpair", path: "", number: errno)
        }
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }
}
