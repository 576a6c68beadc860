import DefaultsRoaming

/// The end of the roaming service at some step, or a lost reply.
struct Interruption: Error {}

/// An engine to which something happens before and after each call.
final class FaultyEngine: Engine, @unchecked Sendable {
    private let engine: any Engine
    private let happen: @Sendable (String) async throws -> Void

    init(_ engine: any Engine, happen: @escaping @Sendable (String) async throws -> Void) {
        self.engine = engine
        self.happen = happen
    }

    private func around<Result: Sendable>(
        _ name: String, _ body: () async throws -> Result
    ) async throws -> Result {
        try await happen("before \(name)")
        let result = try await body()
        try await happen("after \(name)")
        return result
    }

    var pollInterval: Duration? { engine.pollInterval }

    func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) async throws -> Meeting {
        try await around("meeting") {
            try await engine.meet(replica, named: name, known: known, lastBatch: lastBatch)
        }
    }

    func pull(after revision: UInt64, limit: Int) async throws -> Page {
        // Small pages, so that there are several.
        try await around("pulling") { try await engine.pull(after: revision, limit: 3) }
    }

    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        try await around("pushing") { try await engine.push(batch) }
    }

    func noteKept(_ losers: [Loser]) async throws {
        try await around("noting losers") { try await engine.noteKept(losers) }
    }

    func notePulled(upTo revision: UInt64) async throws {
        try await around("noting the revision") { try await engine.notePulled(upTo: revision) }
    }

    func machines() async throws -> [Machine] { try await engine.machines() }
    func forget(_ replica: ReplicaID) async throws { try await engine.forget(replica) }
    func onNews(_ body: @escaping @Sendable () -> Void) async throws {}
    func close() async { await engine.close() }
}
