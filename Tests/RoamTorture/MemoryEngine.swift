import DBus
import DefaultsRoaming

/// A meeting place in memory: the contract of engines in the fewest words, to compare others with.
final class MemoryPlace: @unchecked Sendable {
    struct Known {
        var name: String
        var batch: UInt64 = 0
        var nonce: [UInt8] = []
        var outcomes: [Outcome] = []
        var losers: [Loser] = []
    }

    var revision: UInt64 = 0
    var versions: [RoamingKey: Version] = [:]
    var replicas: [ReplicaID: Known] = [:]
    /// The server's clock, in microseconds since 1970.
    let now: @Sendable () -> Int64
    let id = ReplicaID.random().bytes

    init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }
}

/// An engine on a ``MemoryPlace``; all of them are used on one thread.
final class MemoryEngine: Engine, @unchecked Sendable {
    private let place: MemoryPlace
    private var replica: ReplicaID?

    init(at place: MemoryPlace) {
        self.place = place
    }

    var pollInterval: Duration? { nil }

    func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) async throws -> Meeting {
        self.replica = replica
        var state = Meeting.State.continued
        if let record = place.replicas[replica] {
            let last = lastBatch?.number ?? 0
            if record.batch > last
                || record.batch == last && last > 0 && record.nonce != lastBatch?.nonce
            {
                state = .mustJoinAnew
            }
        } else {
            place.replicas[replica] = MemoryPlace.Known(name: name)
        }
        return Meeting(state: state, place: place.id, revision: place.revision)
    }

    func pull(after revision: UInt64, limit: Int) async throws -> Page {
        let newer = place.versions.values.filter { $0.mark.revision > revision }
            .sorted { $0.mark.revision < $1.mark.revision }
        guard newer.count > limit else {
            return Page(versions: newer, revision: place.revision, hasMore: false)
        }
        let last = newer[limit - 1].mark.revision
        return Page(
            versions: newer.filter { $0.mark.revision <= last }, revision: last, hasMore: true)
    }

    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        guard let replica, var record = place.replicas[replica] else {
            throw EngineError(.refused, "The replica is unknown.")
        }
        if record.batch == batch.number, record.nonce == batch.nonce {
            return (record.outcomes, record.losers)
        }
        place.revision += 1
        let mark = VersionMark(revision: place.revision)
        let now = place.now()
        (record.batch, record.nonce, record.outcomes, record.losers) = (
            batch.number, batch.nonce, [], []
        )
        for edit in batch.edits {
            let time = edit.time(at: now)
            let version = Version(
                key: edit.key, archive: edit.archive, time: time, replica: replica, mark: mark)
            func lose(_ loser: Version) {
                record.losers.append(
                    Loser(
                        name: "\(place.revision)-\(loser.replica.description.prefix(8))",
                        key: loser.key, archive: loser.archive, time: loser.time,
                        replica: loser.replica))
            }
            let current = place.versions[edit.key]
            if let current, current.mark != edit.base {
                if ValueDigest(of: current.archive) == ValueDigest(of: edit.archive) {
                    record.outcomes.append(
                        Outcome(
                            key: edit.key, result: .stands, mark: current.mark, time: current.time))
                    continue
                }
                guard MergeRule.stands((time, replica), against: (current.time, current.replica))
                else {
                    lose(version)
                    record.outcomes.append(
                        Outcome(
                            key: edit.key, result: .lost, mark: current.mark, time: current.time))
                    continue
                }
                lose(current)
            }
            place.versions[edit.key] = version
            record.outcomes.append(
                Outcome(key: edit.key, result: .stands, mark: mark, time: time))
        }
        place.replicas[replica] = record
        return (record.outcomes, record.losers)
    }

    func noteKept(_ losers: [Loser]) async throws {}
    func notePulled(upTo revision: UInt64) async throws {}
    func machines() async throws -> [Machine] {
        place.replicas.map { Machine(id: $0.key, name: $0.value.name, seen: nil) }
    }
    func forget(_ replica: ReplicaID) async throws { place.replicas[replica] = nil }
    func onNews(_ body: @escaping @Sendable () -> Void) async throws {}
    func close() async {}
}
