import Glibc
import Synchronization

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

/// Sentences for the user of a program that has nobody else to tell.
enum StandardError {
    /// Writes a sentence as one line, in one piece.
    ///
    /// A standard error that nobody reads any more does not end the program by SIGPIPE.
    static func say(_ sentence: String) {
        let words = sentence.split(whereSeparator: \.isNewline).joined(separator: " ")
        let bytes = Array("defaults: \(words)\n".utf8)
        var (brokenPipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
        if write(STDERR_FILENO, bytes, bytes.count) < 0, errno == EPIPE,
            sigismember(&before, SIGPIPE) == 0
        {
            // It is pending for this thread, and must not be when it is let through again.
            var noTime = timespec()
            sigtimedwait(&brokenPipe, nil, &noTime)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
