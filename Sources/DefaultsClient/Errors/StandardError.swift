import Glibc

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
