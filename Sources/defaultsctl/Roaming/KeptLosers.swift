import DefaultsClient
import KeyedArchive
import RoamingTerms

/// A value that lost to a later one of another machine, and is kept.
struct RoamConflict {
    let loser: KeptLoser
    let facts: LoserFacts?
    /// The value that lost; nil if the key was removed.
    let lost: KeyedArchive?
    /// The value that stands; nil if there is none.
    let current: KeyedArchive?
    let generation: UInt64

    /// How people name it.
    var name: String { loser.name }
}

extension RemoteDefaults {
    /// The values that lost, in the order of their keys.
    func roamConflicts() async throws -> [RoamConflict] {
        let entries = try await entries(in: RoamTerms.conflicts).entries
        let values = Dictionary(entries.map { ($0.key, $0.archive) }) { first, _ in first }
        var losers: Set<KeptLoser> = []
        for key in values.keys {
            let valueKey =
                key.hasSuffix(KeptLoser.about)
                ? String(key.dropLast(KeptLoser.about.count)) : key
            if let loser = KeptLoser(valueKey: valueKey) { losers.insert(loser) }
        }
        var conflicts: [RoamConflict] = []
        for loser in losers {
            let facts = values[loser.aboutKey].flatMap {
                try? KeyedArchiveDecoder().decode(LoserFacts.self, from: $0)
            }
            let lost = values[loser.valueKey]
            let loser = facts.flatMap { loser.whole($0) } ?? loser
            // Without both there is nothing to show and nothing to take back.
            guard lost != nil || facts?.removed == true else { continue }
            let current = try await archiveIfThere(forKey: loser.key, in: loser.domain)
            conflicts.append(
                RoamConflict(
                    loser: loser, facts: facts, lost: lost, current: current.archive,
                    generation: current.generation))
        }
        return conflicts.sorted {
            ($0.loser.domain, $0.loser.key, $0.name) < ($1.loser.domain, $1.loser.key, $1.name)
        }
    }

    /// Gives a key the value that lost, and forgets the conflict, in one change.
    func restore(_ conflict: RoamConflict) async throws {
        var change = DefaultsTransaction()
        if let lost = conflict.lost {
            change.set(conflict.loser.key, to: lost)
        } else {
            change.remove(conflict.loser.key)
        }
        change.expected[conflict.loser.key] = conflict.generation
        try await applyAll([
            (conflict.loser.domain, change), (RoamTerms.conflicts, Self.dismissal(of: [conflict])),
        ])
    }

    /// Forgets a conflict, here and on all other machines.
    func dismiss(_ conflict: RoamConflict) async throws {
        try await apply(Self.dismissal(of: [conflict]), in: RoamTerms.conflicts)
    }

    /// Removes all conflicts, and everything else that is in their domain.
    func dismissAllConflicts() async throws {
        var change = DefaultsTransaction()
        for key in try await keys(in: RoamTerms.conflicts) { change.remove(key) }
        if !change.isEmpty { try await apply(change, in: RoamTerms.conflicts) }
    }

    private static func dismissal(of conflicts: [RoamConflict]) -> DefaultsTransaction {
        var change = DefaultsTransaction()
        for loser in conflicts.map(\.loser) {
            for key in [loser.valueKey, loser.aboutKey] { change.remove(key) }
        }
        return change
    }
}
