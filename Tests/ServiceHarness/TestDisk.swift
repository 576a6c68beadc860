import Dispatch
import SQLite

@testable import DBus
@testable import DefaultsCore
@testable import DefaultsService
@testable import DefaultsStorage

/// The disk of a service under test.
///
/// It fails where the service sees it: in the writer's own thread, and in SQLite's answers.
struct TestDisk {
    private let service: RunningService

    init(of service: RunningService) {
        self.service = service
    }

    /// Has the disk hang: what is to be written waits.
    func hang() async -> Hold {
        let (gate, writer) = (Gate(), await service.service.writer)
        service.stage.hold(.writer)
        await withCheckedContinuation { continuation in
            _ = Task { await writer.stand(at: gate, once: continuation) }
        }
        return Hold(.writer, by: gate, on: service.stage)
    }

    /// Has the disk refuse what is to be written.
    func refuse() async throws -> Refusal {
        try Refusal(of: await service.service.databasePath)
    }

    /// Has the service believe that the store is damaged.
    func claimDamage() async throws {
        let running = service.service
        try await service.stage.loop.run {
            running.assumeIsolated { _ = $0.settings.store.requestRepair(because: "A test.") }
        }
        await service.stage.settle()
    }

    /// Another connection that has the right to write.
    final class Refusal {
        private let connection: SQLite.Connection

        fileprivate init(of path: String) throws {
            connection = try SQLite.Connection(path: path, flags: .readWrite, vfs: "unix-excl")
            try connection.execute("BEGIN IMMEDIATE")
        }

        /// Has the disk accept everything again.
        func end() throws {
            try connection.execute("ROLLBACK")
        }
    }
}

extension RunningService {
    /// Keeps a lane from carrying out calls.
    func hold(_ lane: Lanes.Lane) async throws -> Hold {
        let gate = Gate()
        let thread = try await service.thread(of: lane)
        stage.hold(.lane(lane))
        await withCheckedContinuation { continuation in
            thread.perform {
                continuation.resume()
                gate.wait()
            }
        }
        return Hold(.lane(lane), by: gate, on: stage)
    }
}

/// A thread of the service that stands still until it is released.
struct Hold {
    private let worker: Stage.Worker
    fileprivate let gate: Gate
    private let stage: Stage

    fileprivate init(_ worker: Stage.Worker, by gate: Gate, on stage: Stage) {
        (self.worker, self.gate, self.stage) = (worker, gate, stage)
    }

    /// Lets the thread go on, and does everything that can be done without the clock.
    func release() async {
        stage.release(worker)
        gate.open()
        await stage.settle()
    }
}

/// Where a thread waits.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { semaphore.wait() }
    func open() { semaphore.signal() }
}

extension DurableWriter {
    /// Keeps the writer's thread, which is not one of those that tests run on.
    fileprivate func stand(at gate: Gate, once standing: CheckedContinuation<Void, Never>) {
        standing.resume()
        gate.wait()
    }
}

extension Service {
    fileprivate var databasePath: String { settings.store.database.path }
    fileprivate var writer: DurableWriter { settings.store.writer }

    /// The loop of a lane, which is started if need be.
    fileprivate func thread(of lane: Lanes.Lane) throws -> EventLoop {
        defer { settings.lanes.end(lane) }
        return try settings.lanes.begin(lane)
    }
}

extension TestDisk {
    /// Has a disk that hangs write what has come to it so far, and hang again.
    ///
    /// - Parameter hold: What it hangs by.
    /// - Returns: What it hangs by from then on.
    func goOn(from hold: Hold) async -> Hold {
        let (gate, writer) = (Gate(), await service.service.writer)
        await withCheckedContinuation { continuation in
            // At once, so that it comes before what is written after that.
            _ = Task.immediate { await writer.stand(at: gate, once: continuation) }
            hold.gate.open()
        }
        await service.stage.settle()
        return Hold(.writer, by: gate, on: service.stage)
    }
}
