import Glibc
import SystemCalls
import Wording

/// A failure of a D-Bus operation: one that the bus or a peer reported, or one found here before
/// anything was sent.
package struct DBusError: ErrorReply, Hashable, CustomStringConvertible {
    /// The code: what kind of failure it is.
    package let name: ErrorName

    /// A sentence for people: what failed, why, and what to do about it.
    package let message: String

    /// The sentence without a full stop at its end, for a part of a longer sentence.
    package var reason: String {
        String(message.hasSuffix(".") ? message.dropLast() : message[...])
    }

    /// What comes after the sentence, for programs; empty in most errors.
    package let details: [Value]

    /// Makes an error of a name and a sentence.
    ///
    /// - Parameter details: What comes after the sentence, for programs.
    package init(_ name: ErrorName, _ message: String, details: [Value] = []) {
        self.name = name
        self.message = message
        self.details = details
    }

    /// The code, for a reply.
    package var errorName: ErrorName { name }
    /// The sentence, for a reply.
    package var errorMessage: String { message }
    /// What comes after the sentence, for a reply.
    package var errorDetails: [Value] { details }
    /// The code and the sentence.
    package var description: String { "\(name): \(message)" }

    /// Adds the code and the sentence.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(message)
    }
}

/// The words of every error that this module makes itself.
extension DBusError {
    static func badName(_ name: String, kind: String, because problem: String) -> DBusError {
        DBusError(.invalidArguments, "\(quoted(name)) is not \(kind): \(problem).")
    }

    static func badSignature(_ signature: String) -> DBusError {
        DBusError(
            .invalidSignature,
            "\(quoted(signature)) is not a D-Bus signature: a type is unknown or incomplete, or it is "
                + "longer than 255 bytes or nested deeper than 32.")
    }

    // MARK: The system

    static func systemCall(_ call: String, error code: Int32) -> DBusError {
        DBusError(.ioError, "\(call) failed: \(SystemError.words(for: code)).")
    }

    static let noMemory = DBusError(.noMemory, "libdbus ran out of memory, or of descriptors.")

    // MARK: The connection

    static let disconnected = DBusError(
        .disconnected, "The connection to the bus is closed; open another one.")

    static func silent(_ address: Address, after limit: Duration) -> DBusError {
        let (seconds, rest) = limit.components
        let words = rest == 0 ? counted(seconds, "second") : "\(limit)"
        return DBusError(
            .timeout,
            "The bus at \(address.text) has not answered within \(words). It may be stopped, or "
                + "still starting: try again, or log in again.")
    }

    static func hangUp(of address: Address) -> DBusError {
        DBusError(
            .disconnected,
            "The bus at \(address.text) has closed the connection without an answer. It may have "
                + "ended, or it may not let this user in.")
    }

    static func timeout(_ destination: BusName?, _ member: MemberName, after: Duration) -> DBusError
    {
        DBusError(
            .timeout, "\(destination?.string ?? "The peer") did not reply to \(member) in \(after)."
        )
    }

    static let noBus = DBusError(
        .invalidArguments,
        "This connection leads to one peer and not to a bus, which has names and rules.")

    static func notListening(_ number: Int32) -> DBusError {
        DBusError(
            .invalidArguments,
            "Descriptor \(number) is not a Unix stream socket that listens for connections.")
    }

    static func notAPeer(_ number: Int32, because problem: String) -> DBusError {
        DBusError(
            .invalidArguments,
            "Descriptor \(number) is not the socket of a peer: \(problem). Give one end of a Unix "
                + "stream socket pair.")
    }

    static func noUnixSocket(in address: String) -> DBusError {
        DBusError(
            .invalidArguments,
            "\(quoted(address)) names no Unix socket, and no other place is used here.")
    }

    package static let noDescriptors = DBusError(
        .invalidArguments,
        "This connection cannot carry file descriptors. Use a Unix socket, and send NEGOTIATE_UNIX_FD "
            + "when you connect.")

    // MARK: Writing

    static let nulInString = DBusError(
        .invalidArguments, "A string holds a NUL character, which D-Bus cannot carry.")

    static func wrongType(writing type: String, expected: String) -> DBusError {
        DBusError(
            .invalidSignature, "A value of type '\(type)' was written where '\(expected)' is due.")
    }

    static func incomplete(expected: String) -> DBusError {
        DBusError(.invalidSignature, "A container was closed before '\(expected)' was written.")
    }

    static let notSingleType = DBusError(
        .invalidSignature, "An array and a variant hold values of exactly one complete type.")

    static let emptyStructure = DBusError(
        .invalidSignature, "D-Bus has no structure without fields.")

    static let spoiled = DBusError(
        .failed, "The message was given up when a part of it could not be written.")

    static let nestedTooDeeply = DBusError(
        .limitsExceeded,
        "The message nests deeper than \(MessageLimits.maximumDepth) containers, which a bus refuses."
    )

    static let arrayTooLong = DBusError(
        .limitsExceeded, "An array of the message is larger than 64 MiB, which D-Bus cannot carry.")

    static let messageTooLong = DBusError(
        .limitsExceeded, "The message is larger than 128 MiB, which D-Bus cannot carry.")

    static let tooManyDescriptors = DBusError(
        .limitsExceeded,
        "The message holds more than \(MessageLimits.maximumDescriptors) file descriptors, "
            + "which a bus refuses.")

    // MARK: Reading

    static func unexpectedType(_ found: TypeCode?, expected: TypeCode) -> DBusError {
        DBusError(
            .invalidArguments,
            found.map {
                "There is a value of type '\($0.character)' where '\(expected.character)' is due."
            }
                ?? "The values end where one of type '\(expected.character)' is due.")
    }

    static let noValue = DBusError(.invalidArguments, "The values end where another one is due.")

    static func wrongReply(expected: Signature, given: Signature) -> DBusError {
        DBusError(
            .invalidArguments,
            "The reply has values of the types '\(given)' where '\(expected)' is due.")
    }

    static func unknownCode(_ number: UInt32) -> DBusError {
        DBusError(.invalidArguments, "The bus replied \(number), which has no meaning here.")
    }

    static func valuesLeft(_ type: TypeCode) -> DBusError {
        DBusError(
            .invalidArguments,
            "There are more values than expected: one of type '\(type.character)'.")
    }

    static let missingDescriptor = DBusError(
        .invalidArguments,
        "A file descriptor cannot be had: the sender named one and did not attach it, or this "
            + "process has too many open.")

    // MARK: Serving

    static func unknownObject(_ path: ObjectPath) -> DBusError {
        DBusError(.unknownObject, "There is no object at \(quoted(path.string)).")
    }

    static func unknownInterface(_ interface: String, at path: ObjectPath) -> DBusError {
        DBusError(
            .unknownInterface,
            "The object at \(quoted(path.string)) has no interface \(quoted(interface)).")
    }

    /// Nobody answers a method.
    package static func unknownMethod(
        _ member: MemberName, of interface: InterfaceName?
    ) -> DBusError {
        DBusError(
            .unknownMethod,
            interface.map { "The interface '\($0)' has no method \(quoted(member.string))." }
                ?? "The object has no method \(quoted(member.string)).")
    }

    static func unknownProperty(_ property: String, of interface: String) -> DBusError {
        DBusError(
            .unknownProperty,
            "The interface \(quoted(interface)) has no property \(quoted(property)).")
    }

    static func readOnlyProperty(_ property: String) -> DBusError {
        DBusError(.propertyReadOnly, "The property \(quoted(property)) cannot be set.")
    }

    static func wrongArguments(
        _ member: MemberName, expected: Signature, given: Signature
    ) -> DBusError {
        DBusError(
            .invalidArguments,
            "\(member) takes arguments of the types '\(expected)'; those given are '\(given)'.")
    }

    static let tooMuchWaits = DBusError(
        .limitsExceeded,
        "Too many calls wait to be carried out; wait for replies before sending more.")

    static let repliesUnread = DBusError(
        .limitsExceeded,
        "Too many replies to earlier calls have not been read; read them, and call again.")

    static let tooMuchIsUnread = DBusError(
        .limitsExceeded,
        "Programs leave so much unread that there is no room for a large reply; ask for less, or call "
            + "again later.")

    static let unanswered = DBusError(.failed, "The service dropped the call without an answer.")

    static let unexplained = DBusError(.failed, "The service could not carry out the call.")

    /// What somebody sent, for a sentence: in quotation marks, and cut if it is long.
    private static func quoted(_ text: String) -> String {
        text.count <= 80 ? "'\(text)'" : "'\(text.prefix(80))…'"
    }
}

extension DBusError {
    /// Writes the sentence and the details to a reply.
    func write(to reply: inout MessageWriter) throws {
        try reply.writeString(MessageLimits.sendable(message))
        try reply.writeValues(details)
    }
}

/// An error that has a name and a message for callers over D-Bus.
///
/// A method handler throws one to answer its call with that error. Any other error answers
/// `org.freedesktop.DBus.Error.Failed` without its text, because a text that was not written for
/// callers may hold what they must not see.
package protocol ErrorReply: Error {
    /// The name that programs compare.
    var errorName: ErrorName { get }

    /// A sentence for people.
    var errorMessage: String { get }

    /// What comes after the sentence, for programs; empty by default.
    var errorDetails: [Value] { get }
}

extension ErrorReply {
    /// Nothing.
    package var errorDetails: [Value] { [] }
}
