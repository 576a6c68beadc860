import DefaultsClient
import Glibc
import KeyedArchive
import RoamingTerms

/// Pushing what has changed here, and keeping what lost.
extension Roamer {
    /// Pushes edits, one batch after the other.
    ///
    /// - Returns: How many were pushed, and whether there is something to store or to push because of
    ///   that: what won elsewhere, and what lost and is kept as a value that roams, too.
    func push() async throws -> (count: Int, isAgainDue: Bool) {
        var (count, isAgainDue) = (0, false)
        while true {
            let (values, isAnyDropped) = try await nextBatch(&isAgainDue)
            guard !values.isEmpty else {
                if isAnyDropped { continue }
                return (count, isAgainDue)
            }
            // Invariant 2.
            try await synchronize()
            var next = replica
            next.batch += 1
            next.nonce = ReplicaID.random().bytes
            next.isAnswered = false
            try state.begin(next, pushing: values)
            replica = next
            try await beforeStep("pushing")
            let outcomes = try await pushBatch()
            count += outcomes.count
            isAgainDue = isAgainDue || outcomes.contains { $0.result == .lost }
        }
    }

    /// Waits until what the daemon has is on its disk.
    func synchronize() async throws {
        try state.noteDurable(upTo: await defaults.synchronize())
        try await beforeStep("synchronized")
    }

    /// Pushes the batch of an interrupted round again.
    func resume() async throws {
        _ = try await pushBatch()
    }

    /// The next values to push; empty if there are none among the next edits.
    ///
    /// - Parameter isAgainDue: Becomes true if a version can be stored because an edit was none.
    /// - Returns: The values, and whether edits were found that are not to be pushed.
    private func nextBatch(
        _ isAgainDue: inout Bool
    ) async throws -> (values: [(RoamingKey, [UInt8]?)], isAnyDropped: Bool) {
        let edits = try state.edits().filter { $0.obstacle == nil }.prefix(Self.largestBatch)
        var (values, bytes, isAnyDropped): ([(RoamingKey, [UInt8]?)], Int, Bool) = ([], 0, false)
        var changedBack: [EditedKey] = []
        for (domain, edits) in Dictionary(grouping: edits, by: \.key.domain).sorted(by: {
            $0.key < $1.key
        }) {
            let current = try await archives(of: edits.map(\.key), in: domain)
            let removed = try await removals(
                among: edits.filter { current[$0.key] == nil && !$0.isRemoval }.map(\.key),
                in: domain)
            for var edit in edits where bytes < Self.largestBytes {
                let (key, archive) = (edit.key, current[edit.key])
                edit.isRemoval = edit.isRemoval || removed.contains(key)
                let base = try state.base(of: key)
                let isSame = (base?.digest ?? .ofNothing) == ValueDigest(of: archive)
                if isSame, edit.moment != .asBase {
                    changedBack.append(edit)
                    isAnyDropped = true
                    if try state.arrival(of: key) != nil { isAgainDue = true }
                } else if let obstacle = obstacle(to: archive, of: edit) {
                    try state.note(obstacle: obstacle, of: [key])
                    isAnyDropped = true
                } else {
                    values.append((key, archive))
                    bytes += archive?.count ?? 0
                }
            }
        }
        if !changedBack.isEmpty {
            // Invariant 7.
            try await synchronize()
            for edit in changedBack { try forget(edit) }
        }
        return (values, isAnyDropped)
    }

    /// The keys whose removal the daemon has on record.
    ///
    /// A value that was set after a removal may have gone in a power cut, so the last look has not told it.
    private func removals(
        among keys: [RoamingKey], in domain: String
    ) async throws -> Set<RoamingKey> {
        guard !keys.isEmpty else { return [] }
        let removed = try await defaults.difference(of: domain, since: 0).removed
        return Set(removed.map { RoamingKey(domain: domain, name: $0) }).intersection(keys)
    }

    /// Why the value of an edit stays here; nil if it is to be pushed.
    private func obstacle(to archive: [UInt8]?, of edit: EditedKey) -> String? {
        if let archive { return Self.obstacle(to: archive) }
        guard !edit.isRemoval else { return nil }
        // Either it was removed since, which the next look tells, or it is damaged.
        changed?.insert(edit.key.domain)
        return "its value cannot be read"
    }

    /// The archives of keys, without those that have none, or one that cannot be read.
    private func archives(
        of keys: [RoamingKey], in domain: String
    ) async throws -> [RoamingKey: [UInt8]] {
        var archives: [RoamingKey: [UInt8]] = [:]
        var singles = keys
        if keys.count > Self.fewKeys {
            let whole = try await defaults.wholeDifference(of: domain)
            for (key, bytes) in whole.changed {
                archives[RoamingKey(domain: domain, name: key)] = bytes
            }
            singles = whole.large.map { RoamingKey(domain: domain, name: $0) }
                .filter(Set(keys).contains)
        }
        for key in singles { archives[key] = try await archive(of: key.name, in: domain) }
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
            let time = base?.time ?? .unknown
            return Edit(
                key: key, archive: archive, age: (edit?.moment ?? .unknown).age(at: now),
                base: base?.mark, earliest: edit?.moment == .asBase ? time : time.next)
        }
        let batch = Batch(number: replica.batch, nonce: nonce, edits: edits)
        do {
            let (outcomes, losers) = try await engine.push(batch)
            try await beforeStep("pushed")
            try await keep(losers)
            try await beforeStep("kept")
            var next = replica
            next.isAnswered = true
            // What does not roam any more has no base.
            let covered = values.filter { choice.covers($0.key) }
            try state.end(
                next, outcomes,
                of: Dictionary(covered.map { ($0.key, $0.archive) }) { first, _ in first })
            replica = next
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
    ///
    /// If the daemon refuses them, the engine keeps them, and tells them again.
    func keep(_ losers: [Loser]) async throws {
        guard !losers.isEmpty else { return }
        var transaction = DefaultsTransaction()
        for loser in losers where loser.key.domain != RoamTerms.conflicts {
            let kept = KeptLoser(
                domain: loser.key.domain, key: loser.key.name, name: loser.name)
            let archive = loser.archive.flatMap { try? KeyedArchive(validating: $0) }
            if let archive { transaction.set(kept.valueKey, to: archive) }
            transaction.set(
                kept.aboutKey, to: try KeyedArchiveEncoder().encode(await facts(of: loser)))
        }
        if !transaction.isEmpty {
            transaction.isDurable = true
            do {
                try await defaults.apply(transaction, in: RoamTerms.conflicts)
            } catch let error as DefaultsError where Self.refusalCodes.contains(error.code) {
                obstacleToKeeping = error.message
                return
            }
            obstacleToKeeping = nil
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
            noticed: Double(time(nil)), key: loser.key.name)
    }

    /// The name of a machine, for people; its identifier if the name is not known.
    func name(of replica: ReplicaID) async -> String {
        if replica == self.replica.id { return machine }
        if machineNames[replica] == nil {
            for machine in (try? await engine.machines()) ?? [] {
                machineNames[machine.id] = machine.name
            }
        }
        return machineNames[replica] ?? replica.description
    }
}
