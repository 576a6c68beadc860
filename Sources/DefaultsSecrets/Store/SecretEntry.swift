/// What is known of one secret.
struct SecretEntry {
    /// The value that the app sees; nil if it is not known yet.
    var shown: (any AnyShownValue)?
    /// The value that the keyring has; nil if it is not known.
    var kept: (any AnyShownValue)?
    /// The number of the newest change.
    var newest: UInt64 = 0
    /// The change that is in flight to the keyring.
    var sent: SecretChange?
    /// The change that is sent after it.
    var waiting: SecretChange?
    /// Why the last background change was not stored, until it is reported.
    var failure: SecretsError?

    var isSettled: Bool { sent == nil && waiting == nil }

    /// Replaces the change that waits by a newer one, which inherits the waiters.
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

    /// Withdraws the change that waits, if nobody wants it any more.
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

/// A change that the keyring does not have yet.
struct SecretChange {
    /// Its number.
    ///
    /// Later changes have greater ones.
    let number: UInt64
    /// What to store; nil to remove the secret.
    let secret: StoredSecret?
    /// The value that the app sees, of the key's type.
    let value: any AnyShownValue
    /// Whether it is stored even if nobody waits for it.
    var isBackground: Bool
    /// The tasks that wait for it.
    var waiters: [Waiter] = []

    /// A task that waits for the end of a change.
    struct Waiter {
        let number: UInt64
        /// Whether the task has made the change.
        ///
        /// Its cancellation withdraws the change.
        let isOwner: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// Whether it is still to be stored.
    var isWanted: Bool { isBackground || waiters.contains { $0.isOwner } }
}

/// A value of a key's type, without that type.
protocol AnyShownValue: Sendable {}

/// A value of a key's type.
///
/// A cast of an optional would unwrap it, and a cast of this does not.
struct ShownValue<Value: Sendable>: AnyShownValue {
    let value: Value
}
