/// The sizes that the contract promises.
public enum Limits {
    /// The largest archive, in bytes (16 MiB); the property `MaximumValueSize`.
    public static let maximumValueSize = 16 << 20

    /// The most values, counted with those inside them, that `SetValue` takes for one archive.
    public static let maximumValueCount = 1 << 18

    /// No reply is larger than this, in bytes (32 MiB).
    public static let maximumReplySize = 32 << 20
}
