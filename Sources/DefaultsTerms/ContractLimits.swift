/// The sizes that the contract promises.
package enum ContractLimits {
    /// The largest archive, in bytes (16 MiB); the property `MaximumValueSize`.
    package static let maximumValueSize = 16 << 20

    /// The largest total size of the names of all keys of a domain, in bytes (16 MiB).
    package static let maximumNameBytes = 16 << 20

    /// The most values that one call of `SetValue` or `ApplyValues` may send, and that `GetValue`
    /// returns.
    ///
    /// Nested values count, too.
    package static let maximumValueCount = 1 << 18

    /// The most keys in one call of `Apply` or `ApplyValues`: set, removed and expected together.
    package static let maximumTransactionKeys = 1 << 18

    /// The most domains in one call of `Attach`, and that one connection may follow.
    package static let maximumAttachedDomains = 1 << 14

    /// The most domains that all connections of a process may follow together.
    package static let maximumFollowedDomains = 1 << 16

    /// The largest reply, in bytes (32 MiB).
    package static let maximumReplySize = 32 << 20

    /// The largest archive that a reply with many entries includes, in bytes (64 KiB).
    package static let maximumBulkEntrySize = 64 << 10

    /// The total size of the archives that a reply with many entries includes, in bytes (4 MiB).
    package static let maximumBulkSize = 4 << 20

    /// The largest total size of the names in a signal `Changed`, in bytes (64 KiB).
    package static let maximumSignalledNames = 64 << 10

    /// The largest total size of the names of locked keys in an error `Locked`, in bytes (1 MiB).
    package static let maximumLockedNames = 1 << 20

    /// The largest total size of the archives in a signal `ChangedValues`, in bytes (16 KiB).
    package static let maximumSignalledValues = 16 << 10
}
