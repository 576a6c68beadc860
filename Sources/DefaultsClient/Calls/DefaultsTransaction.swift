public import KeyedArchive

/// Changes of several keys of one domain, made all or not at all, as one change.
///
/// ```swift
/// var transaction = DefaultsTransaction()
/// transaction.set("PlaySound", to: archive)
/// transaction.remove("PlayMusic")
/// try await defaults.apply(transaction, in: "org.example.Game")
/// ```
public struct DefaultsTransaction: Sendable {
    /// The keys that get a value.
    public private(set) var values: [(key: String, archive: KeyedArchive)] = []
    /// The keys that are removed; one that is not there is no error.
    public private(set) var removals: [String] = []
    /// The generation that a key must still have, 0 where it must be absent; the key "" stands for
    /// the whole domain.
    public var expected: [String: UInt64] = [:]
    /// Whether the reply waits until the change is on disk.
    public var isDurable = false
    /// A name for the transaction: a second one with the same name replies what the first did.
    public var token: String?

    /// Makes a transaction that changes nothing yet.
    public init() {}

    /// Whether it changes nothing.
    public var isEmpty: Bool { values.isEmpty && removals.isEmpty }

    /// Sets a key, which no other part of the transaction names.
    public mutating func set(_ key: String, to archive: KeyedArchive) {
        values.append((key, archive))
    }

    /// Removes a key, which no other part of the transaction names.
    public mutating func remove(_ key: String) {
        removals.append(key)
    }
}
