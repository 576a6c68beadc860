/// What is known of one secret.
struct SecretEntry {
    /// What the app sees, a ``ShownValue``; nil where that is not known yet.
    var shown: (any Sendable)?
    /// What the keyring has as far as is known, a ``ShownValue``; nil where that is not known.
    var kept: (any Sendable)?
    /// The number of the newest change.
    var newest: UInt64 = 0
    /// The change that the keyring has been told.
    var sent: SecretChange?
    /// The change that comes after it.
    var waiting: SecretChange?
    /// Why the last change that nobody waited for is not stored, until somebody asks.
    var failure: SecretsError?

    var isSettled: Bool { sent == nil && waiting == nil }

    /// Puts a change in the place of the one that waits, and gives it that one's waiters.
    mutating func add(_ change: SecretChange) {
        var change = change
        if let replaced = waiting {
            change.waiters = replaced.waiters + change.waiters
            change.isBackground = change.isBackground || replaced.isBackground
        }
        waiting = change
        newest = change.number
        shown = change.value
        failure = nil
    }

    /// Takes back what waits where nobody wants it any more.
    mutating func dropUnwanted() -> [SecretChange.Waiter] {
        guard let change = waiting, !change.isWanted else { return [] }
        waiting = nil
        shown = sent?.value ?? kept
        return change.waiters
    }

    /// Notes the end of the change that was sent.
    mutating func end(stored: Bool) -> SecretChange? {
        guard let change = sent else { return nil }
        sent = nil
        if stored { kept = change.value }
        if waiting == nil { shown = kept }
        return change
    }
}

/// A change on its way to the keyring.
struct SecretChange {
    /// Its number, by which later changes of its key are told from it.
    let number: UInt64
    /// What is stored; nil where the secret is removed.
    let secret: StoredSecret?
    /// The value as the app sees it, an ``ShownValue`` of the key's type.
    let value: any Sendable
    /// Whether it is stored though nobody waits for it.
    var isBackground: Bool
    /// Who waits for it.
    var waiters: [Waiter] = []

    /// A task that waits for the end of a change.
    struct Waiter {
        let number: UInt64
        /// Whether the change is the task's own, which goes with it.
        let isOwner: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// Whether anybody wants it still.
    var isWanted: Bool { isBackground || waiters.contains { $0.isOwner } }
}

/// A value of a key's type, which may be an optional; as it is, a cast would look through that.
struct ShownValue<Value: Sendable>: Sendable {
    let value: Value
}
