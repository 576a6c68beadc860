import DBus
import DefaultsRoaming

/// A meeting place in memory: the contract of engines in the fewest words, to compare others with.
final class MemoryPlace: @unchecked Sendable {
    struct Known {
        var name: String
        var batch: UInt64 = 0
        var nonce: [UInt8] = []
        var outcomes: [Outcome] = []
        var pulled: UInt64 = 0
    }

    struct Content {
        var revision: UInt64 = 0
        var versions: [RoamingKey: Version] = [:]
        var replicas: [ReplicaID: Known] = [:]
        /// What lost and was not kept yet, with the replica that is to keep it; nil for any.
        var losers: [(loser: Loser, keeper: ReplicaID?)] = []

        func losers(for replica: ReplicaID) -> [Loser] {
            losers.filter { $0.keeper == nil || $0.keeper == replica }.map(\.loser)
        }
    }

    var content = Content()
    private(set) var id = ReplicaID.random().bytes
    /// The server's clock, in microseconds since 1970.
    let now: @Sendable () -> Int64

    init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    func restore(_ backup: Content) {
        content = backup
        id = ReplicaID.random().bytes
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
        let isElsewhere = known != nil && known != place.id
        var state: Meeting.State = isElsewhere ? .rewound : .continued
        var shared: UInt64 = 0
        if let record = place.content.replicas[replica] {
            shared = record.pulled
            let last = lastBatch?.number ?? 0
            if record.batch > last
                || record.batch == last && last > 0 && record.nonce != lastBatch?.nonce
            {
                state = .mustJoinAnew
                for index in place.content.losers.indices
                where place.content.losers[index].keeper == replica {
                    place.content.losers[index].keeper = nil
                }
            }
        } else {
            place.content.replicas[replica] = MemoryPlace.Known(name: name)
        }
        return Meeting(
            state: state, place: place.id, revision: place.content.revision, shared: shared)
    }

    func pull(after revision: UInt64, limit: Int) async throws -> Page {
        let losers = replica.map(place.content.losers(for:)) ?? []
        let newer = place.content.versions.values.filter { $0.mark.revision > revision }
            .sorted { $0.mark.revision < $1.mark.revision }
        guard newer.count > limit else {
            return Page(
                versions: newer, losers: losers, revision: place.content.revision, hasMore: false)
        }
        let last = newer[limit - 1].mark.revision
        return Page(
            versions: newer.filter { $0.mark.revision <= last }, losers: losers, revision: last,
            hasMore: true)
    }

    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        guard let replica, var record = place.content.replicas[replica] else {
            throw EngineError(.refused, "The replica is unknown.")
        }
        if record.batch == batch.number, record.nonce == batch.nonce {
            return (record.outcomes, place.content.losers(for: replica))
        }
        place.content.revision += 1
        let mark = VersionMark(revision: place.content.revision)
        let now = place.now()
        (record.batch, record.nonce, record.outcomes) = (batch.number, batch.nonce, [])
        for edit in batch.edits {
            let time = edit.time(at: now)
            let version = Version(
                key: edit.key, archive: edit.archive, time: time, replica: replica, mark: mark)
            func lose(_ loser: Version) {
                let loser = Loser(
                    // A place that was put back gives its revisions again.
                    name: "\(place.content.revision)-" + batch.nonce.prefix(4).hexadecimal,
                    key: loser.key, archive: loser.archive, time: loser.time,
                    replica: loser.replica)
                place.content.losers.append((loser, replica))
            }
            let current = place.content.versions[edit.key]
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
            place.content.versions[edit.key] = version
            record.outcomes.append(
                Outcome(key: edit.key, result: .stands, mark: mark, time: time))
        }
        place.content.replicas[replica] = record
        return (record.outcomes, place.content.losers(for: replica))
    }

    func noteKept(_ losers: [Loser]) async throws {
        place.content.losers.removeAll { losers.contains($0.loser) }
    }

    func notePulled(upTo revision: UInt64) async throws {
        guard let replica else { return }
        place.content.replicas[replica]?.pulled = revision
    }
    func machines() async throws -> [Machine] {
        place.content.replicas.map { Machine(id: $0.key, name: $0.value.name, seen: nil) }
    }
    func forget(_ replica: ReplicaID) async throws { place.content.replicas[replica] = nil }
    func onNews(_ body: @escaping @Sendable () -> Void) async throws {}
    func close() async {}
}
