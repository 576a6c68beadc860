/// What is known of damage to the store, which is to be made anew.
struct Mending {
    /// How long a store that was made anew is left as it is: where it is damaged again at once, the
    /// disk is, and making it anew does not help.
    private static let pause = Duration.seconds(60)

    /// What was found and not mended yet.
    private(set) var damage: String?
    /// Whether the store is being made anew.
    private(set) var isUnderWay = false
    private var last: ContinuousClock.Instant?

    /// Whether the store is to be made anew.
    var isDue: Bool { damage != nil && !isUnderWay }

    /// Notes damage.
    ///
    /// - Returns: Whether the store will be made anew.
    mutating func note(_ damage: String) -> Bool {
        if self.damage != nil { return true }
        if let last, last.duration(to: .now) < Mending.pause { return false }
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

    /// Ends, whatever has come of it.
    mutating func end() {
        (damage, isUnderWay, last) = (nil, false, .now)
    }
}
