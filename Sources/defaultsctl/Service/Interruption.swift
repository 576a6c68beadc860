@preconcurrency import Glibc
import Synchronization

/// The daemon that is to be waited for; 0 for none.
private let daemon = Atomic<pid_t>(0)

/// What ends this program from outside while a daemon of its own runs.
///
/// The daemon keeps what it has acknowledged in any case. This waits until it is on disk, so that who
/// interrupts this program and pulls the plug finds it there, too.
enum Interruption {
    /// From now on a signal ends the daemon first, and is obeyed when that has ended.
    static func follow(_ identifier: pid_t) {
        daemon.store(identifier, ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // Nothing but calls that signal-safety(7) allows.
                if case let identifier = daemon.exchange(0, ordering: .sequentiallyConsistent),
                    identifier > 0
                {
                    kill(identifier, SIGTERM)
                    _ = reap(identifier)
                }
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Waits for the daemon's end.
    ///
    /// - Returns: Its exit status; for one that a signal ended, the signal's number plus 128.
    static func waitForEnd(of identifier: pid_t) -> Int32 {
        // Where a signal's handler waits for it, that ends this program.
        let status = reap(identifier)
        daemon.store(0, ordering: .sequentiallyConsistent)
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : signal + 128
    }
}

private func reap(_ identifier: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status
}
