import DefaultsRoaming

/// A place in memory where each push stands, which shows what it was given and can be tampered with.
actor RecordingEngine: Engine {
    nonisolated let pollInterval: Duration? = nil
    private(set) var versions: [RoamingKey: Version] = [:]
    private(set) var losers: [Loser] = []
    private(set) var names: [ReplicaID: String] = [:]
    private(set) var forgotten: [Loser] = []
    private var revision: UInt64 = 0
    private var writer = ReplicaID.random()
    /// Whether it has losers that it does not give out before the first ones are kept.
    private var hasMoreLosers = false
    private(set) var refusals: [RoamingKey: String] = [:]
    /// Which keys have no room.
    private var isFull = false

    func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) -> Meeting {
        names[replica] = name
        writer = replica
        return Meeting(state: .continued, place: [1, 2, 3], revision: revision)
    }

    func pull(after revision: UInt64, limit: Int) -> Page {
        Page(
            versions: versions.values.filter { $0.mark.revision > revision }
                .sorted { $0.key < $1.key },
            losers: losers, revision: self.revision, hasMore: hasMoreLosers)
    }

    func push(_ batch: Batch) throws -> (outcomes: [Outcome], losers: [Loser]) {
        if isFull { throw EngineError(.full(batch.edits.map(\.key)), "there is no room") }
        revision += 1
        let mark = VersionMark(revision: revision)
        var replaced: [Loser] = []
        for edit in batch.edits {
            if let old = versions[edit.key], old.mark != edit.base {
                replaced.append(
                    Loser(
                        name: "\(revision)", key: old.key, archive: old.archive, time: old.time,
                        replica: old.replica))
            }
            versions[edit.key] = Version(
                key: edit.key, archive: edit.archive, time: .known(Int64(revision)),
                replica: writer, mark: mark)
        }
        losers += replaced
        let outcomes = batch.edits.map {
            Outcome(key: $0.key, result: .stands, mark: mark, time: .known(Int64(revision)))
        }
        return (outcomes, replaced)
    }

    func noteKept(_ losers: [Loser]) {
        forgotten += losers
        self.losers.removeAll { losers.contains($0) }
    }

    func notePulled(upTo revision: UInt64) {}
    func machines() -> [Machine] { names.map { Machine(id: $0.key, name: $0.value, seen: nil) } }
    func forget(_ replica: ReplicaID) { names[replica] = nil }
    func onNews(_ body: @escaping @Sendable () -> Void) {}
    func close() {}

    // MARK: The enemy

    func put(_ archive: [UInt8]?, under key: RoamingKey) {
        revision += 1
        versions[key] = Version(
            key: key, archive: archive, time: .known(0), replica: .random(),
            mark: VersionMark(revision: revision))
    }

    func fill() { isFull = true }

    func holdLosersBack() { hasMoreLosers = true }

    func refuse(_ key: RoamingKey, because reason: String) { refusals[key] = reason }
}
