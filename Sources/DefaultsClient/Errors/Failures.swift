import Synchronization

/// Gives failures to those who listen, and writes them to standard error if nobody does.
final class Failures: Sendable {
    private let listeners = Broadcast<DefaultsFailure>()
    /// The lines that were written: the same is not written twice.
    private let written = Mutex<Set<String>>([])

    /// An application that fails in more ways than these has said enough.
    private static var mostLines: Int { 256 }

    /// The failures from now on.
    func stream() -> AsyncStream<DefaultsFailure> { listeners.stream() }

    func tell(_ failure: DefaultsFailure) {
        guard !listeners.tell(failure) else { return }
        let line = failure.line
        let isNew = written.withLock { $0.count < Self.mostLines && $0.insert(line).inserted }
        if isNew { StandardError.say(line) }
    }
}

extension DefaultsFailure {
    /// How many keys a line names.
    private static var mostNames: Int { 3 }

    /// The failure in one line, without any value.
    var line: String {
        let names = keys.prefix(Self.mostNames).map { "'\($0)'" }.joined(separator: ", ")
        let others = keys.count - min(keys.count, Self.mostNames)
        let subject = names + (others > 0 ? " and \(others) more" : "")
        let event =
            switch action {
            case .write: "was not changed"
            case .read: "cannot be read, and the default is used instead"
            case .replace: "was replaced, though it could not be read"
            }
        return "\(subject) of \(domain) \(event): \(reason(of: error))"
    }
}

/// An error whose description never contains a stored value, so that a log may contain the description.
///
/// If a value cannot be read or archived, the library's own errors and lines on standard error quote the
/// description of such an error. Of any other error of your types they name only the type, because it
/// could quote the value.
public protocol LoggableError: Error, CustomStringConvertible {}

/// Why something went wrong, without any value.
///
/// Errors of the application's types, and some of the standard library's, quote the value that they
/// refuse; of these only the kind is named.
func reason(of error: any Error) -> String {
    switch error {
    case let error as ClientError: error.message
    case DecodingError.keyNotFound(let key, _): "The field '\(key.stringValue)' is missing."
    case DecodingError.typeMismatch(let type, _), DecodingError.valueNotFound(let type, _):
        "A value in it is not one of \(type)."
    case is DecodingError: "A value in it is not valid."
    case is EncodingError: "The new value cannot be archived."
    case let error as any LoggableError:
        error.description.hasSuffix(".") ? error.description : "\(error.description)."
    default: "The error is one of \(type(of: error))."
    }
}
