/// What a caller asks of one domain in one go: all of it or nothing.
///
/// Invariants:
/// 1. No key stands twice, neither among those to set, nor among those to remove, nor in both.
/// 2. No key, and not the whole domain, is expected to be two things.
package struct Transaction: Sendable {
    /// The domain.
    package let domain: Domain
    /// The keys to remove.
    package let removed: [Key]
    /// What must hold for anything to happen.
    package let expected: [Expectation]
    /// The name by which the caller may ask for the outcome again.
    package let token: Token?

    /// Gathers a transaction.
    ///
    /// The values to be set are not part of it: they are looked at one by one as they are read.
    ///
    /// - Parameters:
    ///   - set: The keys that are to be set.
    /// - Throws: `ModelError` with code `.invalidTransaction` where an invariant does not hold.
    package init(
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
    package var key: Key? {
        switch self {
        case .key(let key, _): key
        case .wholeDomain: nil
        }
    }
}

/// What a transaction expects to find; where it does not, nothing is changed.
package enum Expectation: Hashable, Sendable {
    /// The key has not been changed since it got this generation; it is absent where there is none.
    case key(Key, Generation?)
    /// Nothing in the domain has been changed after this generation; the domain has no keys where
    /// there is none.
    case wholeDomain(Generation?)

    /// Reads an expectation as a caller writes it: a key, or an empty text for the whole domain, and
    /// a number, or 0 for what must not be there.
    ///
    /// - Throws: `ModelError` with code `.invalidKey`.
    package init(_ subject: String, _ number: UInt64) throws(ModelError) {
        let generation = Generation(rawValue: number)
        self = subject.isEmpty ? .wholeDomain(generation) : .key(try Key(subject), generation)
    }

    /// Whether the expectation of a key holds.
    ///
    /// - Parameters:
    ///   - expected: The generation that it must have; nil where it must be absent.
    ///   - actual: The generation that it has; nil where it is absent.
    package static func holds(expected: Generation?, actual: Generation?) -> Bool {
        expected == actual
    }

    /// Whether the expectation of a whole domain holds.
    ///
    /// A generation of the database serves as well as one of the domain: a caller who has read all
    /// of it at some generation expects that nothing has come after. That takes a database that
    /// knows what has. It does not after a generation that it has not reached, nor after one from
    /// before a power cut or a restored backup, when the domain may have been another; only the
    /// domain's own last change proves itself, as no number is given twice.
    ///
    /// - Parameters:
    ///   - expected: The generation after which nothing may have changed; nil where there must be no
    ///     keys.
    ///   - lastChange: The domain's last change; nil where it never had one.
    ///   - isOnRecord: Whether the database knows all that came after the expected generation.
    ///   - isEmpty: Whether the domain has no keys.
    package static func holds(
        expected: Generation?, lastChange: Generation?, isOnRecord: Bool, isEmpty: Bool
    ) -> Bool {
        guard let expected else { return isEmpty }
        guard let lastChange, lastChange >= expected else { return isOnRecord }
        return lastChange == expected
    }
}

/// The name that a caller gives to a transaction, so that it may ask for the outcome again after
/// a reply that was lost: 1 to 255 bytes of UTF-8 without NUL.
package struct Token: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    package static let maximumLength = 255

    /// How many tokens of a domain are remembered; the oldest are forgotten first.
    package static let rememberedPerDomain = 1024

    /// How many tokens of all domains together are remembered; the oldest are forgotten first.
    package static let rememberedInAll = 16_384

    /// The token's text.
    package let name: String

    /// Takes text as a token.
    ///
    /// - Throws: `ModelError` with code `.invalidTransaction` where it is empty, too long or has a
    ///   NUL.
    package init(_ name: String) throws(ModelError) {
        guard (1...Token.maximumLength).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw .invalidToken(name)
        }
        self.name = name
    }

    /// The token's text.
    package var description: String { name }

    /// Whether both are the same bytes.
    package static func == (one: Token, other: Token) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
