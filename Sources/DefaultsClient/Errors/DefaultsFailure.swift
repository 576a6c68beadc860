/// Something that went wrong behind a call that does not throw.
///
/// ``Defaults/failures`` tells of each.
public struct DefaultsFailure: Sendable {
    /// What was tried.
    public enum Action: Sendable, Hashable {
        /// A change was refused. What holds is as it was before.
        case write
        /// A value could not be decoded as its key has it. What is read is the default.
        case read
        /// A value that could not be decoded was replaced by a new one. The error names the key under
        /// which it is kept.
        case replace
    }

    /// What was tried.
    public let action: Action
    /// The keys, sorted.
    public let keys: [String]
    /// The domain, with the suffix of the layer.
    public let domain: String
    /// Why: a ``ClientError``, or what encoding or decoding threw.
    public let error: any Error

    init(action: Action, keys: [KeyName], domain: String, error: any Error) {
        self.action = action
        self.keys = keys.sorted().map(\.string)
        self.domain = domain
        self.error = error
    }
}
