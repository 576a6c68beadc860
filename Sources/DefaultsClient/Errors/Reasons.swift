import Glibc

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
        "A value in it is not of the type \(type)."
    case is DecodingError: "A value in it is not valid."
    case is EncodingError: "A value in it cannot be archived."
    case let error as any LoggableError:
        error.description.hasSuffix(".") ? error.description : "\(error.description)."
    default: "The error is one of \(type(of: error))."
    }
}

/// Sentences for the user, if the program does not show them.
enum StandardError {
    /// Writes a sentence as one line, in one piece.
    ///
    /// If standard error has no reader any more, SIGPIPE does not end the program.
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
            // The signal is pending for this thread. Take it before it is unblocked.
            var noTime = timespec()
            sigtimedwait(&brokenPipe, nil, &noTime)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
