/// An error that says how a caller over D-Bus is to be told of it.
///
/// A method handler throws one to answer its call with that error. Any other error answers
/// `org.freedesktop.DBus.Error.Failed` without its text, because a text that was not written for
/// callers may hold what they must not see.
public protocol ErrorReply: Error {
    /// The name that programs compare.
    var errorName: ErrorName { get }

    /// A sentence for people.
    var errorMessage: String { get }
}
