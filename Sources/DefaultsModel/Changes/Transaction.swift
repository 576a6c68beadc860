/// What a caller wants to do to one domain in one change: everything or nothing.
///
/// Invariants:
/// 1. Each key appears only once, among the keys to set and the keys to remove together.
/// 2. There is only one expectation of each key, and only one of the whole domain.
package struct Transaction: Sendable {
    /// The domain.
    package let domain: Domain
    /// The keys to remove.
    package let removed: [Key]
    /// The conditions for making the change.
    package let expected: [Expectation]

    /// Makes a transaction.
    ///
    /// It does not contain the values to set: they are checked one by one while they are read.
    ///
    /// - Parameters:
    ///   - set: The keys that are to be set.
    ///   - unchangedSince: The generation after which none of the keys may have changed; nil if they
    ///     may have.
    /// - Throws: `ModelError` with code `.invalidTransaction` if an invariant does not hold.
    package init(
        domain: Domain, set: [Key], removed: [Key], expected: [Expectation],
        unchangedSince: UInt64? = nil
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
        self.expected =
            expected
            + (unchangedSince.map { since in
                (set + removed).map { .unchanged($0, since: Generation(rawValue: since)) }
            } ?? [])
    }
}

extension Expectation {
    /// The key that it is about; nil for the whole domain.
    package var key: Key? {
        switch self {
        case .key(let key, _), .unchanged(let key, _): key
        case .wholeDomain: nil
        }
    }
}

/// A condition of a transaction.
///
/// If it does not hold, nothing is changed.
package enum Expectation: Hashable, Sendable {
    /// The key was last changed at this generation.
    ///
    /// Nil: the key is absent.
    case key(Key, Generation?)
    /// Nothing in the domain has changed after this generation.
    ///
    /// Nil: the domain has no keys.
    case wholeDomain(Generation?)
    /// The key was neither set nor removed after this generation.
    ///
    /// Nil: a number that is never a generation, so the expectation does not hold.
    case unchanged(Key, since: Generation?)

    /// Makes an expectation from what a caller sends: a key, or an empty text for the whole domain,
    /// and a generation, or 0 if it must be absent.
    ///
    /// - Throws: `ModelError` with code `.invalidKey`.
    package init(_ subject: String, _ number: UInt64) throws(ModelError) {
        let generation = Generation(rawValue: number)
        self = subject.isEmpty ? .wholeDomain(generation) : .key(try Key(subject), generation)
    }

    /// Whether the expectation of a key holds.
    ///
    /// - Parameters:
    ///   - expected: The generation that the key must have; nil if it must be absent.
    ///   - actual: The generation that the key has; nil if it is absent.
    package static func holds(expected: Generation?, actual: Generation?) -> Bool {
        expected == actual
    }

    /// Whether the expectation holds that a key has not changed after a generation.
    ///
    /// As for a whole domain, the database must know all changes since then. Otherwise the key may
    /// have been different, and only the generation of its last change is accepted.
    ///
    /// - Parameters:
    ///   - since: The generation after which the key may not have changed.
    ///   - lastChange: The last change or the removal of the key; nil if that is unknown, or if there
    ///     never was one.
    ///   - isOnRecord: Whether the database knows all changes of the key after that generation.
    package static func holds(
        unchangedSince since: Generation, lastChange: Generation?, isOnRecord: Bool
    ) -> Bool {
        if isOnRecord { return lastChange.map { $0 <= since } ?? true }
        return lastChange == since
    }

    /// Whether the expectation of a whole domain holds.
    ///
    /// The expected generation may be any generation of the database: a caller who has read the
    /// whole domain at it expects that no change has come after. The database must know all changes
    /// since then. It does not if it has not reached that generation, or if there was a power cut
    /// or a restored backup since then: the domain may have been different. In these cases only the
    /// generation of the domain's last change is accepted, because no number is used twice.
    ///
    /// - Parameters:
    ///   - expected: The generation after which nothing may have changed; nil if there must be no
    ///     keys.
    ///   - lastChange: The domain's last change; nil if it never had one.
    ///   - isOnRecord: Whether the database knows all changes after the expected generation.
    ///   - isEmpty: Whether the domain has no keys.
    package static func holds(
        expected: Generation?, lastChange: Generation?, isOnRecord: Bool, isEmpty: Bool
    ) -> Bool {
        guard let expected else { return isEmpty }
        guard let lastChange, lastChange >= expected else { return isOnRecord }
        return lastChange == expected
    }
}

/// A name that a caller gives to a transaction, so that it can repeat the call after a lost reply:
/// 1 to 255 bytes of UTF-8 without NUL.
package struct Token: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    package static let maximumLength = 255

    /// How many tokens of a domain are remembered.
    ///
    /// The oldest are forgotten first.
    package static let rememberedPerDomain = 1024

    /// How many tokens of all domains together are remembered.
    ///
    /// The oldest of the domains with most tokens are forgotten first.
    package static let rememberedInAll = 16_384

    /// How many tokens each domain may keep, so that they are not too many together.
    ///
    /// A domain with fewer keeps all of them.
    ///
    /// - Parameter counts: How many tokens the domains have.
    /// - Returns: Nil if they are not too many; 0 if there are too many domains for one token each.
    package static func share(of counts: [Int]) -> Int? {
        var room = rememberedInAll
        for (index, count) in counts.sorted().enumerated() {
            let share = room / (counts.count - index)
            if count > share { return share }
            room -= count
        }
        return nil
    }

    /// The token's text.
    package let name: String

    /// Makes a token from a text.
    ///
    /// - Throws: `ModelError` with code `.invalidTransaction` if it is empty, too long or contains
    ///   a NUL.
    package init(_ name: String) throws(ModelError) {
        guard (1...Token.maximumLength).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw .invalidToken(name)
        }
        self.name = name
    }

    /// The token's text.
    package var description: String { name }

    /// Whether both have the same bytes.
    package static func == (one: Token, other: Token) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
