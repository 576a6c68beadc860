import DefaultsClient
@preconcurrency import Glibc
import Synchronization

/// The daemon that is to be ended before this program; 0 if there is none, or somebody ends it.
private let daemon = Atomic<pid_t>(0)
/// The signal that came while the daemon's end was waited for; 0 for none.
private let received = Atomic<Int32>(0)
/// Whether the daemon's end is waited for in the ordinary way.
private let isEnding = Atomic(false)

/// What ends this program from outside while a daemon of its own runs.
///
/// The daemon keeps what it has acknowledged in any case. This waits until it is on disk, so that who
/// interrupts this program and pulls the plug finds it there, too.
///
/// Invariants:
/// 1. The daemon's end is waited for by one: a handler, or the ordinary end.
/// 2. After a signal this program ends by that signal, as it would without a daemon.
enum Interruption {
    /// From now on a signal ends the daemon first, and is obeyed when that has ended.
    static func follow(_ identifier: pid_t) {
        daemon.store(identifier, ordering: .sequentiallyConsistent)
        SignalHandling.handle([SIGINT, SIGTERM, SIGHUP]) { number in
            // Nothing but calls that signal-safety(7) allows.
            if isEnding.load(ordering: .sequentiallyConsistent) {
                return received.store(number, ordering: .sequentiallyConsistent)
            }
            let identifier = daemon.exchange(0, ordering: .sequentiallyConsistent)
            // Another handler is at it.
            guard identifier > 0 else { return }
            kill(identifier, SIGTERM)
            _ = PrivateDaemon.reap(identifier)
            obey(number)
        }
    }

    /// Waits for the daemon's end, once.
    ///
    /// - Returns: Its exit status; for one that a signal ended, the signal's number plus 128.
    static func waitForEnd(of identifier: pid_t) -> Int32 {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        guard daemon.exchange(0, ordering: .sequentiallyConsistent) > 0 else {
            // A handler waits for it, and ends this program then.
            while true { pause() }
        }
        let status = PrivateDaemon.reap(identifier)
        let number = received.load(ordering: .sequentiallyConsistent)
        if number != 0 { obey(number) }
        return PrivateDaemon.exitStatus(status)
    }
}

/// Ends this program by a signal.
private func obey(_ number: Int32) {
    signal(number, SIG_DFL)
    raise(number)
}

/// Signals that this program handles by itself.
enum SignalHandling {
    /// Has signals handled, but for those that this program was started to ignore, as by nohup(1) or
    /// in the background of a script.
    static func handle(_ numbers: [Int32], by handler: @escaping @convention(c) (Int32) -> Void) {
        for number in numbers where !isIgnored(number) { signal(number, handler) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Of C's functions only the addresses can be compared; this one is a number that is none.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
