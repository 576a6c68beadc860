import DefaultsRoaming
import KeyedArchive

/// The end of the roaming service at some step, or a lost reply.
struct Interruption: Error {}

/// An engine to which something happens before and after each call.
final class FaultyEngine: Engine, @unchecked Sendable {
    /// The step at which a replica learns that it joins as a new one.
    static let joining = "joining again"

    private let engine: any Engine
    private let say: @Sendable (String) -> Void
    private let happen: @Sendable (String) async throws -> Void

    /// - Parameters:
    ///   - say: Tells what the engine was given and has given out.
    ///   - happen: Called before and after each call, with its name.
    init(
        _ engine: any Engine, say: @escaping @Sendable (String) -> Void,
        happen: @escaping @Sendable (String) async throws -> Void
    ) {
        self.engine = engine
        self.say = say
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
            let meeting = try await engine.meet(
                replica, named: name, known: known, lastBatch: lastBatch)
            if meeting.state != .continued { say("is met as \(meeting.state)") }
            if meeting.state == .mustJoinAnew { try await happen(Self.joining) }
            return meeting
        }
    }

    func pull(after revision: UInt64, limit: Int) async throws -> Page {
        // Small pages, so that there are several.
        try await around("pulling") {
            let page = try await engine.pull(after: revision, limit: 3)
            for version in page.versions {
                say("pulls \(text(version.archive)) of \(version.key)")
            }
            for loser in page.losers { say("pulls that \(text(loser.archive)) has lost") }
            return page
        }
    }

    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        try await around("pushing") {
            let (outcomes, losers) = try await engine.push(batch)
            for (edit, outcome) in zip(batch.edits, outcomes) {
                say("pushes \(text(edit.archive)) of \(edit.key), which \(outcome.result)")
            }
            for loser in losers { say("hears that \(text(loser.archive)) has lost") }
            return (outcomes, losers)
        }
    }

    private func text(_ archive: [UInt8]?) -> String {
        guard let archive else { return "nothing" }
        let valid = try? KeyedArchive(validating: archive)
        return valid.flatMap { try? KeyedArchiveDecoder().decode(String.self, from: $0) }
            ?? "\(archive.count) bytes"
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
