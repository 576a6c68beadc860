/// The sizes that the contract promises.
public enum Limits {
    /// The largest archive, in bytes (16 MiB); the property `MaximumValueSize`.
    public static let maximumValueSize = 16 << 20

    /// No reply is larger than this, in bytes (32 MiB).
    public static let maximumReplySize = 32 << 20
}
