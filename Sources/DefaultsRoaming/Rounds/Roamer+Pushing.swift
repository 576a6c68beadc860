import DefaultsClient
import Glibc
import KeyedArchive
import RoamingTerms

/// Pushing what has changed here, and keeping what lost.
extension Roamer {
    /// Pushes edits, one batch after the other.
    ///
    /// - Returns: How many were pushed, and whether one has lost.
    func push() async throws -> (count: Int, hasLost: Bool) {
        var (count, hasLost) = (0, false)
        while let values = try await nextBatch() {
            // Invariant 2.
            try state.noteDurable(upTo: await defaults.synchronize())
            replica.batch += 1
            replica.nonce = ReplicaID.random().bytes
            replica.isAnswered = false
            try await beforeStep("synchronized")
            try state.begin(replica, pushing: values)
            try await beforeStep("pushing")
            let outcomes = try await pushBatch()
            count += outcomes.count
            hasLost = hasLost || outcomes.contains { $0.result == .lost }
        }
        return (count, hasLost)
    }

    /// Pushes the batch of an interrupted round again.
    func resume() async throws {
        _ = try await pushBatch()
    }

    /// The next values to push; nil if there are none.
    private func nextBatch() async throws -> [(RoamingKey, [UInt8]?)]? {
        let edits = try state.edits().filter { $0.obstacle == nil }.prefix(Self.largestBatch)
        var values: [(RoamingKey, [UInt8]?)] = []
        var bytes = 0
        for (domain, edits) in Dictionary(grouping: edits, by: \.key.domain).sorted(by: {
            $0.key < $1.key
        }) {
            let current = try await archives(of: edits.map(\.key.name), in: domain)
            for edit in edits where bytes < Self.largestBytes {
                let archive = current[edit.key.name]
                let base = try state.base(of: edit.key)
                let isSame = (base?.digest ?? .ofNothing) == ValueDigest(of: archive)
                if isSame, edit.moment != .asBase {
                    // It was changed back.
                    try state.removeEdit(of: edit.key)
                } else if let obstacle = archive.flatMap(Self.obstacle) {
                    try state.note(obstacle: obstacle, of: [edit.key])
                } else {
                    values.append((edit.key, archive))
                    bytes += archive?.count ?? 0
                }
            }
        }
        return values.isEmpty ? nil : values
    }

    /// The archives of keys, without those that have none.
    private func archives(of keys: [String], in domain: String) async throws -> [String: [UInt8]] {
        var archives: [String: [UInt8]] = [:]
        if keys.count > Self.fewKeys {
            let whole = try await defaults.wholeDifference(of: domain)
            archives = whole.changed
            for key in keys where whole.large.contains(key) {
                archives[key] = try await archive(of: key, in: domain)
            }
        } else {
            for key in keys { archives[key] = try await archive(of: key, in: domain) }
        }
        return archives
    }

    /// The number of keys up to which each is read by a call.
    private static let fewKeys = 16

    /// Pushes the batch that is on disk, if there is one.
    private func pushBatch() async throws -> [Outcome] {
        let values = try state.pushedValues()
        guard !values.isEmpty, let nonce = replica.nonce else { return [] }
        let now = clock()
        let edits = try values.map { key, archive in
            let edit = try state.edit(of: key)
            let base = try state.base(of: key)
            return Edit(
                key: key, archive: archive, age: (edit?.moment ?? .unknown).age(at: now),
                base: base?.mark,
                baseTime: base?.time ?? .unknown)
        }
        let batch = Batch(number: replica.batch, nonce: nonce, edits: edits)
        do {
            let (outcomes, losers) = try await engine.push(batch)
            try await beforeStep("pushed")
            try await keep(losers)
            try await beforeStep("kept")
            replica.isAnswered = true
            for outcome in outcomes where outcome.result == .lost {
                // A version that was read already comes again.
                if try state.arrival(of: outcome.key) == nil {
                    replica.revision = min(replica.revision, outcome.mark.revision - 1)
                }
            }
            try state.end(
                replica, outcomes,
                of: Dictionary(values.map { ($0.key, $0.archive) }) { first, _ in first })
            return outcomes
        } catch let error as EngineError {
            guard case .full(let keys) = error.kind, !keys.isEmpty else { throw error }
            try state.abandonBatch()
            try state.note(obstacle: error.description, of: keys)
            return []
        }
    }

    /// Stores what lost as values of ``RoamTerms/conflicts``, and lets the engine forget that it was to
    /// be told.
    func keep(_ losers: [Loser]) async throws {
        guard !losers.isEmpty else { return }
        var transaction = DefaultsTransaction()
        for loser in losers where loser.key.domain != RoamTerms.conflicts {
            let kept = KeptLoser(
                domain: loser.key.domain, key: loser.key.name, name: loser.name)
            guard let valueKey = kept.valueKey, let aboutKey = kept.aboutKey else { continue }
            let archive = loser.archive.flatMap { try? KeyedArchive(validating: $0) }
            if let archive { transaction.set(valueKey, to: archive) }
            transaction.set(aboutKey, to: try KeyedArchiveEncoder().encode(await facts(of: loser)))
        }
        if !transaction.isEmpty {
            transaction.isDurable = true
            try await defaults.apply(transaction, in: RoamTerms.conflicts)
            noteOwnChange(of: RoamTerms.conflicts)
        }
        try await beforeStep("noting losers")
        try await engine.noteKept(losers)
    }

    private func facts(of loser: Loser) async -> LoserFacts {
        let written: Double? =
            if case .known(let time) = loser.time { Double(time) / 1e6 } else { nil }
        return LoserFacts(
            removed: loser.archive == nil, machine: await name(of: loser.replica), written: written,
            noticed: Double(time(nil)))
    }

    private func name(of replica: ReplicaID) async -> String {
        if replica == self.replica.id { return machine }
        if machineNames[replica] == nil {
            for machine in (try? await engine.machines()) ?? [] {
                machineNames[machine.id] = machine.name
            }
        }
        return machineNames[replica] ?? replica.description
    }
}
