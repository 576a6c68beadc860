import DefaultsClient
@preconcurrency import Glibc
import Synchronization
import SystemCalls

/// The daemon that must end before this program; 0 if there is none, or if its end is already
/// awaited.
private let daemon = Atomic<pid_t>(0)
/// The signal that came while the daemon was ending; 0 for none.
private let received = Atomic<Int32>(0)
/// Whether the program is waiting for the daemon's end without a signal.
private let isEnding = Atomic(false)

/// Handles the signals that end this program while its own daemon runs.
///
/// The daemon never loses what it has acknowledged. The program waits until everything is on disk,
/// so that it also survives a power cut directly after an interruption.
///
/// Invariants:
/// 1. Only one waits for the daemon's end: a handler, or the normal end of the program.
/// 2. After a signal, this program ends by that signal, as it would without a daemon.
enum Interruption {
    /// From now on, a signal first ends the daemon, and then this program.
    static func follow(_ identifier: pid_t) {
        daemon.store(identifier, ordering: .sequentiallyConsistent)
        SignalHandling.handle([SIGINT, SIGTERM, SIGHUP]) { number in
            // Only calls that signal-safety(7) allows.
            if isEnding.load(ordering: .sequentiallyConsistent) {
                return received.store(number, ordering: .sequentiallyConsistent)
            }
            let identifier = daemon.exchange(0, ordering: .sequentiallyConsistent)
            // Another handler is already waiting.
            guard identifier > 0 else { return }
            kill(identifier, SIGTERM)
            _ = SpawnedProcess.reap(identifier)
            obey(number)
        }
    }

    /// Waits for the daemon's end.
    ///
    /// Call this once.
    ///
    /// - Returns: Its exit status, or 128 plus the number of the signal that ended it.
    static func waitForEnd(of identifier: pid_t) -> Int32 {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        guard daemon.exchange(0, ordering: .sequentiallyConsistent) > 0 else {
            // A handler waits for the daemon, and then ends this program.
            while true { pause() }
        }
        let status = SpawnedProcess.reap(identifier)
        let number = received.load(ordering: .sequentiallyConsistent)
        if number != 0 { obey(number) }
        return SpawnedProcess.exitStatus(status)
    }
}

/// Ends this program by a signal.
private func obey(_ number: Int32) {
    signal(number, SIG_DFL)
    raise(number)
}

/// Installs handlers for signals.
enum SignalHandling {
    /// Installs a handler for signals, except for those that this program was started to ignore,
    /// for example by nohup(1) or in the background of a script.
    static func handle(_ numbers: [Int32], by handler: @escaping @convention(c) (Int32) -> Void) {
        for number in numbers where !isIgnored(number) { signal(number, handler) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // Of C functions only the addresses can be compared, and SIG_IGN is a number that is not an
        // address.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
