/// The sizes that the contract promises.
package enum ContractLimits {
    /// The largest archive, in bytes (16 MiB); the property `MaximumValueSize`.
    package static let maximumValueSize = 16 << 20

    /// The most bytes that the names of all keys of a domain have together (16 MiB).
    package static let maximumNameBytes = 16 << 20

    /// The most values, counted with those inside them, that one call of `SetValue` or `ApplyValues`
    /// brings, and one of `GetValue` shows.
    package static let maximumValueCount = 1 << 18

    /// The most keys that one call of `Apply` or `ApplyValues` names: set, removed and expected together.
    package static let maximumTransactionKeys = 1 << 18

    /// The most domains that one call of `Attach` names.
    package static let maximumAttachedDomains = 1 << 14

    /// No reply is larger than this, in bytes (32 MiB).
    package static let maximumReplySize = 32 << 20

    /// Where entries are sent in bulk: the largest archive that is among them, in bytes (64 KiB).
    package static let maximumBulkEntrySize = 64 << 10

    /// Where entries are sent in bulk: the most bytes of archives that are sent (4 MiB).
    package static let maximumBulkSize = 4 << 20

    /// The most names, in bytes, that the signal `Changed` lists (64 KiB).
    package static let maximumSignalledNames = 64 << 10
}
