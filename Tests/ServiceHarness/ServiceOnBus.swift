import DefaultsProtocol
import Logging
import SystemCalls

@testable import DBus
@testable import DefaultsCore
@testable import DefaultsService

/// A service on a ``TestBus``, with a program that is connected to the service itself.
final class ServiceOnBus {
    let bus: TestBus
    /// A program of the user, outside of a sandbox.
    let caller: TestCaller
    private let service: Service
    private let stage: Stage
    private let place: TestPlace

    private init(
        _ service: Service, on bus: TestBus, _ caller: TestCaller, on stage: Stage,
        in place: TestPlace
    ) {
        self.service = service
        self.bus = bus
        self.caller = caller
        self.stage = stage
        self.place = place
    }

    static func start(
        showingRules: Bool = true, answeringLate: Bool = true,
        serving doors: [any Door.Type] = [], _ setup: TestService.Setup = .init()
    ) async throws -> ServiceOnBus {
        let (stage, place) = (try Stage(), try TestPlace(.memory, setup))
        let (loop, logger) = (stage.loop, LogLines().logger)
        let bus = TestBus(showingRules: showingRules, answeringLate: answeringLate, on: loop)
        let connection = try await bus.connect()
        stage.add(connection)
        try await connection.greet(on: stage)
        await connection.admitOwnUser(by: ProcessExaminer(), logger: logger)
        let service = try await loop.run {
            try Service.make(in: place, on: connection, doors: doors, logger: logger)
        }
        stage.note(service)
        await Task(executorPreference: loop) { await service.start() }.value
        let (ours, theirs) = try UnixSocket.pair()
        let served = try await loop.run {
            try Connection(
                serving: ours, named: ":direct.1", as: TestCaller.Kind.own.credentials(1),
                like: connection, on: loop)
        }
        stage.add(served)
        let caller = try await TestCaller(calling: theirs, as: ":direct.1", on: stage)
        return ServiceOnBus(service, on: bus, caller, on: stage, in: place)
    }

    /// Does everything that can be done without the clock.
    func settle() async { await stage.settle() }

    /// Lets the service take over what is done to the files of administrators and vendors.
    func changeFiles(_ change: (TestPlace) throws -> Void) async throws {
        try change(place)
        await stage.settle()
        await stage.advance(by: .seconds(1))
    }

    /// Ends it without order: nothing is looked at any more.
    ///
    /// What it has open is closed here. A process has few descriptors, and a test ends many services.
    func end() async throws {
        await bus.close()
        await service.closeFiles()
        // Tasks that wait for signals end with the connection, and have to run for that.
        await service.connection.close()
        await stage.settle()
        try await stage.loop.run { [stage] in stage.end() }
    }
}

extension Service {
    /// Closes what it has open, without order.
    fileprivate func closeFiles() async {
        face.end()
        await settings.close(with: .success(settings.store.generation))
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
