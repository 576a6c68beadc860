import Wording

/// An error whose description never contains a stored value, so that a log may contain the description.
///
/// If a value cannot be read or archived, the library's own errors and lines on standard error quote the
/// description of such an error. Of any other error of your types they name only the type, because it
/// could quote the value.
public protocol LoggableError: Error, CustomStringConvertible {}

/// Why a call failed, in a sentence without values.
///
/// Errors of the application's types, and some of the standard library's, quote the value that they
/// refuse. Only the type of such an error is named.
func reason(of error: any Error) -> String {
    switch error {
    case let error as DefaultsError: error.message
    case DecodingError.keyNotFound(let key, _): "The field '\(key.stringValue)' is missing."
    case DecodingError.typeMismatch(let type, _), DecodingError.valueNotFound(let type, _):
        "A value in it is not \(words(for: type))."
    case is DecodingError: "A value in it is not valid."
    case is EncodingError: "A value in it cannot be archived."
    case let error as any LoggableError:
        error.description.hasSuffix(".") ? error.description : "\(error.description)."
    default: "The error is one of \(type(of: error))."
    }
}
