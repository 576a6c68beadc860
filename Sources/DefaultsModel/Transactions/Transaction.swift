/// What a caller asks of one domain in one go: all of it or nothing.
///
/// Invariants:
/// 1. No key stands twice, neither among those to set, nor among those to remove, nor in both.
/// 2. No key, and not the whole domain, is expected to be two things.
public struct Transaction: Sendable {
    /// The domain.
    public let domain: Domain
    /// The keys to remove.
    public let removed: [Key]
    /// What must hold for anything to happen.
    public let expected: [Expectation]
    /// The name by which the caller may ask for the outcome again.
    public let token: Token?

    /// Gathers a transaction.
    ///
    /// The values to be set are not part of it: they are looked at one by one as they are read.
    ///
    /// - Parameters:
    ///   - set: The keys that are to be set.
    /// - Throws: `ModelError` with code `.invalidTransaction` where an invariant does not hold.
    public init(
        domain: Domain, set: [Key], removed: [Key], expected: [Expectation], token: Token?
    ) throws(ModelError) {
        var seen: Set<Key> = []
        for key in set where !seen.insert(key).inserted { throw .keyTwice(key, "set") }
        let keysToSet = seen
        for key in removed where !seen.insert(key).inserted {
            throw keysToSet.contains(key) ? .keySetAndRemoved(key) : .keyTwice(key, "remove")
        }
        var subjects: Set<Key?> = []
        for expectation in expected where !subjects.insert(expectation.key).inserted {
            throw .expectedTwice(expectation.key)
        }
        self.domain = domain
        self.removed = removed
        self.expected = expected
        self.token = token
    }
}

extension Expectation {
    /// The key that it is about; nil for the whole domain.
    public var key: Key? {
        switch self {
        case .key(let key, _): key
        case .wholeDomain: nil
        }
    }
}
