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
