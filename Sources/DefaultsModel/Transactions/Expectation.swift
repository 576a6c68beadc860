/// What a transaction expects to find; where it does not, nothing is changed.
public enum Expectation: Hashable, Sendable {
    /// The key has not been changed since it got this generation; it is absent where there is none.
    case key(Key, Generation?)
    /// Nothing in the domain has been changed after this generation; the domain has no keys where
    /// there is none.
    case wholeDomain(Generation?)

    /// Reads an expectation as a caller writes it: a key, or an empty text for the whole domain, and
    /// a number, or 0 for what must not be there.
    ///
    /// - Throws: `ModelError` with code `.invalidKey`.
    public init(_ subject: String, _ number: UInt64) throws(ModelError) {
        let generation = Generation(rawValue: number)
        self = subject.isEmpty ? .wholeDomain(generation) : .key(try Key(subject), generation)
    }

    /// Whether the expectation of a key holds.
    ///
    /// - Parameters:
    ///   - expected: The generation that it must have; nil where it must be absent.
    ///   - actual: The generation that it has; nil where it is absent.
    public static func holds(expected: Generation?, actual: Generation?) -> Bool {
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
    public static func holds(
        expected: Generation?, lastChange: Generation?, isOnRecord: Bool, isEmpty: Bool
    ) -> Bool {
        guard let expected else { return isEmpty }
        guard let lastChange, lastChange >= expected else { return isOnRecord }
        return lastChange == expected
    }
}
