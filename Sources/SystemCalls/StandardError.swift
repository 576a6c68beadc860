internal import CLinux
internal import Glibc

/// Sentences for the user, if the program does not show them.
package enum StandardError {
    /// Writes a sentence as one line, in one piece.
    ///
    /// If standard error has no reader any more, SIGPIPE does not end the program.
    ///
    /// - Parameters:
    ///   - sentence: The sentence.
    ///   - source: The word before it, such as `defaults`.
    package static func say(_ sentence: String, from source: StaticString) {
        let words = sentence.split(whereSeparator: \.isNewline).joined(separator: " ")
        let bytes = Array("\(source): \(words)\n".utf8)
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
