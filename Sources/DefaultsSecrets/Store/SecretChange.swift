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
