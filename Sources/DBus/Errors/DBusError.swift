/// A failure of a D-Bus operation: one that the bus or a peer reported, or one found here before
/// anything was sent.
public struct DBusError: ErrorReply, Hashable, CustomStringConvertible {
    /// The code: what kind of failure it is.
    public let name: ErrorName

    /// A sentence for people: what failed, why, and what to do about it.
    public let message: String

    /// Makes an error of a name and a sentence.
    public init(_ name: ErrorName, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The code, for a reply.
    public var errorName: ErrorName { name }
    /// The sentence, for a reply.
    public var errorMessage: String { message }
    /// The code and the sentence.
    public var description: String { "\(name): \(message)" }
}
