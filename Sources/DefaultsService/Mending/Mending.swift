/// What is known of damage to the store, which is to be made anew.
struct Mending {
    /// What has come of making a store anew.
    enum Outcome {
        case done, failed
    }

    /// How long a store that was made anew is left as it is: where it is damaged again at once, the
    /// disk is, and making it anew does not help.
    private static let shortestPause = Duration.seconds(60)
    /// How long it is left at most where it cannot be made anew: each failure doubles the pause.
    private static let longestPause = Duration.seconds(3600)

    /// What was found and not mended yet.
    private(set) var damage: String?
    /// Whether the store is being made anew.
    private(set) var isUnderWay = false
    private var last: ContinuousClock.Instant?
    private var pause = shortestPause

    /// Whether the store is to be made anew.
    var isDue: Bool { damage != nil && !isUnderWay }

    /// Notes damage.
    ///
    /// - Returns: Whether the store will be made anew.
    mutating func note(_ damage: String) -> Bool {
        if self.damage != nil { return true }
        if let last, last.duration(to: .now) < pause { return false }
        self.damage = damage
        return true
    }

    /// Begins.
    ///
    /// - Returns: What was found.
    mutating func begin() -> String {
        guard let damage, !isUnderWay else { preconditionFailure("there is nothing to mend") }
        isUnderWay = true
        return damage
    }

    /// Ends.
    mutating func end(_ outcome: Outcome) {
        (damage, isUnderWay, last) = (nil, false, .now)
        switch outcome {
        case .done: pause = Self.shortestPause
        case .failed: pause = min(pause * 2, Self.longestPause)
        }
    }
}
