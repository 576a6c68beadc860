import CLinux
package import DBus
import Glibc
package import SystemCalls

/// The signals that a service handles, read from a descriptor on its loop.
///
/// They are blocked for the whole process. This must happen before the first thread is made,
/// because a signal would end a thread that has not inherited the mask. SIGPIPE is ignored, so that
/// a closed standard error costs a log line and not the daemon. SIGXFSZ is ignored, too.
package struct ProcessSignals: ~Copyable {
    /// A signal that was received.
    package enum Received {
        /// SIGTERM or SIGINT: end.
        case stop
        /// SIGHUP: read everything that was set up again, and go on.
        case refresh
    }

    private let descriptor: Int32

    /// Blocks the signals.
    ///
    /// - Throws: If the system has no descriptor to spare.
    package init() throws(SystemError) {
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&mask, number) }
        pthread_sigmask(SIG_BLOCK, &mask, nil)
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is then reported like any other disk error.
        signal(SIGXFSZ, SIG_IGN)
        descriptor = signalfd(-1, &mask, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else { throw .last("signalfd", "signals") }
    }

    deinit {
        close(descriptor)
    }

    /// Calls the handler on the loop for each signal, until the loop ends.
    package func deliver(on loop: EventLoop, to handler: @escaping (Received) -> Void) {
        let descriptor = descriptor
        _ = loop.watch(descriptor, for: .readable) { _ in
            while let received = Self.next(from: descriptor) { handler(received) }
        }
    }

    private static func next(from descriptor: Int32) -> Received? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor, &info, size) == size else { return nil }
        return info.ssi_signo == UInt32(SIGHUP) ? .refresh : .stop
    }
}
