import DefaultsProtocol
import Synchronization

@testable import DBus
@testable import DefaultsCore
@testable import DefaultsService

/// The loop of a service and its callers, and what keeps it from being quiet.
///
/// Everything is on one loop. So a message has arrived when it was sent, and the loop itself knows if
/// there is one. Only the writer's thread and the lanes work beside it, and the service knows if they do:
/// each ends by handing over its outcome. So no test waits for a time to see whether something
/// comes.
final class Stage: Sendable {
    /// A thread that works for the loop.
    enum Worker: Hashable {
        case writer
        case lane(Lanes.Lane)
    }

    private struct State {
        var service: Service?
        var connections: [Connection] = []
        /// The names of the methods that were called, by the numbers of the calls.
        var unanswered: [UInt64: String] = [:]
        var lastCall: UInt64 = 0
        var held: Set<Worker> = []
        var hasEnded = false
    }

    let loop: EventLoop
    private let state = Mutex(State())

    init() throws {
        loop = try EventLoop.startThread(named: "service", clock: .held)
    }

    deinit {
        // It has not ended after a test that has failed.
        loop.stop()
    }

    /// Moves the clock as far, and returns when all that is due by then is done.
    func advance(by duration: Duration) async {
        guard !hasEnded else { return }
        await loop.advance(by: duration) { self.isBusy }
    }

    func settle() async {
        await advance(by: .zero)
    }

    /// Whether another thread works, and is not held.
    private var isBusy: Bool {
        let (service, held) = state.withLock { ($0.service, $0.held) }
        guard let service else { return false }
        return !service.assumeIsolated { $0.settings.busyWorkers }.isSubset(of: held)
    }

    /// Notes whose threads work for the loop.
    func note(_ service: Service) {
        state.withLock { $0.service = service }
    }

    // MARK: What a test holds

    func hold(_ worker: Worker) {
        state.withLock { state in
            let isNew = state.held.insert(worker).inserted
            precondition(isNew, "It is held already.")
        }
    }

    func release(_ worker: Worker) {
        _ = state.withLock { $0.held.remove(worker) }
    }

    // MARK: Who waits

    /// Notes a call.
    ///
    /// - Returns: Its number.
    func noteCall(of method: String) -> UInt64 {
        state.withLock { state in
            state.lastCall += 1
            state.unanswered[state.lastCall] = method
            return state.lastCall
        }
    }

    func noteAnswer(to call: UInt64) {
        state.withLock { $0.unanswered[call] = nil }
    }

    /// - Throws: ``StillWaiting``.
    func checkNobodyWaits() throws {
        let names = state.withLock { state in
            state.unanswered.sorted { $0.key < $1.key }.map(\.value)
                + state.held.map { "\($0), which is held" }
        }
        guard names.isEmpty else { throw StillWaiting(names: names) }
    }

    // MARK: The end

    /// Whether the loop has ended.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Adds a connection, which is closed at the end.
    func add(_ connection: Connection) {
        state.withLock { $0.connections.append(connection) }
    }

    /// Closes the connections and stops the loop; on the loop's thread.
    ///
    /// No timer fires after that, and no handler is called.
    func end() {
        let connections = state.withLock { state in
            defer { (state.connections, state.service, state.hasEnded) = ([], nil, true) }
            return state.connections
        }
        for connection in connections {
            connection.assumeIsolated {
                $0.close()
                // The methods and handlers refer to the service, which has the connection.
                $0.objects = ObjectTree()
                $0.subscriptions = Subscriptions()
                ($0.nameLostHandlers, $0.nameAcquiredHandlers) = ([:], [:])
            }
        }
        loop.timers = TimerQueue(by: loop.time)
        loop.stop()
    }
}

extension Settings {
    /// The threads that work for the service now.
    fileprivate var busyWorkers: Set<Stage.Worker> {
        var workers = Set(Lanes.Lane.allCases.filter(lanes.isBusy).map(Stage.Worker.lane))
        if store.isWorking || upkeep.isUnderWay || lanes.isLogBeingPrepared || history.isBeingRead {
            workers.insert(.writer)
        }
        return workers
    }
}

extension EventLoop {
    /// Runs a closure on the loop's thread.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            perform { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
