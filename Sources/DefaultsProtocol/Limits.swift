/// The sizes that the contract promises.
public enum Limits {
    /// The largest archive, in bytes (16 MiB); the property `MaximumValueSize`.
    public static let maximumValueSize = 16 << 20

    /// The most values, counted with those inside them, that one call of `SetValue` or `ApplyValues`
    /// brings, and one of `GetValue` shows.
    public static let maximumValueCount = 1 << 18

    /// The most keys that one call of `Apply` or `ApplyValues` names: set, removed and expected together.
    public static let maximumTransactionKeys = 1 << 18

    /// The most domains that one call of `Attach` names.
    public static let maximumAttachedDomains = 1 << 14

    /// No reply is larger than this, in bytes (32 MiB).
    public static let maximumReplySize = 32 << 20

    /// Where entries are sent in bulk: the largest archive that is among them, in bytes (64 KiB).
    public static let maximumBulkEntrySize = 64 << 10

    /// Where entries are sent in bulk: the most bytes of archives that are sent (4 MiB).
    public static let maximumBulkSize = 4 << 20

    /// The most names, in bytes, that the signal `Changed` lists (64 KiB).
    public static let maximumSignalledNames = 64 << 10
}
