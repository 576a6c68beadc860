import DefaultsFiles
import DefaultsProtocol
import Logging
import SystemCalls

@testable import DBus
@testable import DefaultsService
@testable import DefaultsStorage

/// A service on a ``TestBus``, with a program that is connected to the service itself.
final class ServiceOnBus {
    let bus: TestBus
    /// A program of the user, outside of a sandbox.
    let caller: TestCaller
    private let object: DefaultsObject
    private let stage: Stage
    private let place: TestPlace

    private init(
        _ object: DefaultsObject, on bus: TestBus, _ caller: TestCaller, on stage: Stage,
        in place: TestPlace
    ) {
        self.object = object
        self.bus = bus
        self.caller = caller
        self.stage = stage
        self.place = place
    }

    static func start(
        showingRules: Bool = true, answeringLate: Bool = true,
        serving desktops: [DesktopService] = []
    ) async throws -> ServiceOnBus {
        let (stage, place) = (try Stage(), try TestPlace(.memory))
        let (loop, logger) = (stage.loop, LogLines().logger)
        let bus = TestBus(showingRules: showingRules, answeringLate: answeringLate, on: loop)
        let connection = try await bus.connect()
        stage.add(connection)
        try await connection.greet(on: stage)
        await connection.admitOwnUser(by: ProcessExaminer(), logger: logger)
        let object = try await loop.run {
            let database = try Database(at: place.location) { logger.notice("\($0)") }
            let writer = try database.makeWriter()
            return DefaultsObject(
                connection: connection, database: database, writer: writer,
                layers: FileLayers(in: place.layers, problemLevel: .warning), desktops: desktops,
                examiner: ProcessExaminer(), logger: logger,
                abandon: { logger.critical("The service gives up: \($0)") })
        }
        stage.note(object)
        await Task(executorPreference: loop) { await object.start() }.value
        let (ours, theirs) = try UnixSocket.pair()
        let served = try await loop.run {
            try Connection(
                serving: ours, named: ":direct.1", as: TestCaller.Kind.own.credentials(1),
                like: connection, on: loop)
        }
        stage.add(served)
        let caller = try await TestCaller(calling: theirs, as: ":direct.1", on: stage)
        return ServiceOnBus(object, on: bus, caller, on: stage, in: place)
    }

    /// Does everything that can be done without the clock.
    func settle() async { await stage.settle() }

    /// Ends it without order: nothing is looked at any more.
    ///
    /// What it has open is closed here. A process has few descriptors, and a test ends many services.
    func end() async throws {
        await bus.close()
        await object.writer.close()
        // Tasks that wait for signals end with the connection, and have to run for that.
        await object.connection.close()
        await stage.settle()
        try await stage.loop.run { [stage, object] in
            object.assumeIsolated {
                // A timer keeps the service, which has the timer.
                $0.flushAlarm.stop()
                $0.signals.stopTimer()
                $0.memory.end()
                $0.layerSchedule.end()
                $0.database.close()
            }
            stage.end()
        }
    }
}

extension Connection {
    /// Greets the bus, as ``Opening`` does.
    fileprivate func greet(on stage: Stage) async throws {
        call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", timeout: nil,
            write: { _ in },
            read: { self.take(uniqueName: try BusName(try $0.readString())) },
            completion: { _ in })
        await stage.settle()
        precondition(uniqueName != nil, "The bus does not answer.")
    }
}
