/// What some domains have stored together.
package struct Usage: Sendable, Equatable {
    /// The domains that have keys.
    package private(set) var domains = 0
    /// Their keys.
    package private(set) var keys = 0
    /// The total size of names and archives, in bytes.
    package private(set) var bytes = 0

    /// Nothing.
    package init() {}

    /// What is stored after a domain has changed.
    package func after(_ growth: Growth) -> Usage {
        var usage = self
        usage.domains += (growth.after.keys > 0 ? 1 : 0) - (growth.before.keys > 0 ? 1 : 0)
        usage.keys += growth.after.keys - growth.before.keys
        usage.bytes += growth.after.bytes - growth.before.bytes
        return usage
    }

    /// Adds a domain.
    package mutating func add(_ totals: KeyTotals) {
        self = after(Growth(before: KeyTotals(), after: totals))
    }
}

/// What a change makes of the size of its domain.
package struct Growth: Sendable, Equatable {
    /// The totals of the domain before it.
    package let before: KeyTotals
    /// The totals of the domain after it.
    package let after: KeyTotals

    /// Pairs two totals.
    package init(before: KeyTotals, after: KeyTotals) {
        self.before = before
        self.after = after
    }

    /// Whether the domain has more of anything after it.
    package var isMore: Bool { after.keys > before.keys || after.bytes > before.bytes }
}
