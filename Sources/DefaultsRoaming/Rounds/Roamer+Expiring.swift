import DefaultsClient
import RoamingTerms

/// Forgetting values that lost long ago.
extension Roamer {
    /// On how many days a value that lost is there, if nobody dismisses it before.
    private static let longestKept: Int64 = 90

    /// Removes conflicts older than ``longestKept``, here and on all machines.
    func expireConflicts() async throws {
        let day = clock().wall / 86_400_000_000
        guard day != lastDay else { return }
        let keys = try await defaults.keys(in: RoamTerms.conflicts)
        let old = try state.count(day, of: keys, limit: Self.longestKept)
        lastDay = day
        guard !old.isEmpty else { return }
        var transaction = DefaultsTransaction()
        for key in old { transaction.remove(key) }
        do {
            try await defaults.apply(transaction, in: RoamTerms.conflicts)
            noteOwnChange(of: RoamTerms.conflicts)
        } catch let error as DefaultsError where Self.refusalCodes.contains(error.code) {
            // They are locked: the next day tries again.
        }
    }
}
