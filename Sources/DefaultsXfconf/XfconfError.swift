package import DBus
internal import DefaultsTerms

/// An error of Xfconf's interface, with a message for people.
package struct XfconfError: ErrorReply, Hashable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// Some members of the interface's list are left out, because this service does not have their
    /// causes.
    package enum Code: String, Sendable {
        case propertyNotFound = "PropertyNotFound"
        case readFailure = "ReadFailure"
        case writeFailure = "WriteFailure"
        case permissionDenied = "PermissionDenied"
        case internalError = "InternalError"
        case invalidProperty = "InvalidProperty"
        case invalidChannel = "InvalidChannel"
    }

    /// The kind of error.
    package let code: Code
    /// The message for people.
    package let description: String

    /// Makes an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The name on the bus.
    package var errorName: ErrorName {
        // All raw values are elements of a name.
        (try? ErrorName("org.xfce.Xfconf.Error.\(code.rawValue)")) ?? .failed
    }
    /// The message for people.
    package var errorMessage: String { description }
}

/// The messages of this module's own refusals.
extension XfconfError {
    static let emptyChannel = XfconfError(.invalidChannel, "The name of a channel is not empty.")

    static func strayCharacter(inChannel name: String) -> XfconfError {
        XfconfError(
            .invalidChannel,
            "\(name.quotedForMessage) is not the name of a channel: it has letters and digits of "
                + "ASCII and the characters - _ . , : | [ ] { }, and nothing else.")
    }

    static func overlongChannel(_ name: String) -> XfconfError {
        XfconfError(
            .invalidChannel,
            "\(name.quotedForMessage) is not the name of a channel: it is too long for the name of a "
                + "domain.")
    }

    static func invalidProperty(_ name: String, because reason: String) -> XfconfError {
        XfconfError(
            .invalidProperty, "\(name.quotedForMessage) is not the name of a property: \(reason).")
    }

    /// Refuses a reset of the root that is not recursive.
    package static let rootNeedsRecursion = XfconfError(
        .invalidProperty,
        "A reset of '/' is for the whole channel, so it has to be recursive.")

    /// A property has no value.
    package static func notFound(_ property: String, in channel: ChannelName) -> XfconfError {
        XfconfError(
            .propertyNotFound,
            "The channel \(channel) has no property \(property.quotedForMessage).")
    }

    static func unsupported(type: String) -> XfconfError {
        XfconfError(
            .internalError,
            "A property cannot have a value of the type '\(type)'. It is a number, a boolean, a "
                + "string, an array of strings, or an array of variants of these.")
    }

    static func tooManyElements(limit: Int) -> XfconfError {
        XfconfError(.internalError, "An array has at most \(limit) elements.")
    }
}
