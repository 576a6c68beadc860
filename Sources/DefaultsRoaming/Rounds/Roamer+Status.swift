import RoamingTerms

/// What people are told.
extension Roamer {
    /// The status with what is known about the keys.
    func described(in status: RoamStatus) async -> RoamStatus {
        var status = status
        status.replica = replica.id.description
        guard !isNew, let counts = try? state.counts() else { return status }
        status.same = counts.bases
        status.waiting = counts.edits
        status.obstacles = counts.obstacles
        for (key, reason) in refusals.merging(await engine.refusals, uniquingKeysWith: { $1 }) {
            status.obstacles["\(key.domain) \(key.name)"] =
                "the version of another machine cannot be used: \(reason)"
        }
        if let obstacleToKeeping {
            status.obstacles[RoamTerms.conflicts] =
                "values that lost cannot be kept: \(obstacleToKeeping)"
        }
        return status
    }

    /// Looks at a domain again at the next round, without another reason to make one.
    func noteOwnChange(of domain: String) {
        changed?.insert(domain)
    }
}
