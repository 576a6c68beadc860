import CLinux
import DBus
import Glibc

/// The signals that a service answers to, read from a descriptor on its loop.
///
/// They are blocked for the whole process, which has to happen before the first thread is made:
/// a thread that did not inherit the mask would be ended by them. SIGPIPE is ignored, so that a
/// closed standard error costs a log line and not the daemon; so is SIGXFSZ.
struct ProcessSignals: ~Copyable {
    /// What the descriptor tells.
    enum Received {
        /// SIGTERM or SIGINT: flush and end.
        case stop
        /// SIGHUP: flush, read the files of the layers again, and go on.
        case refresh
    }

    private let descriptor: Int32

    init() throws(LifeCycleError) {
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&mask, number) }
        pthread_sigmask(SIG_BLOCK, &mask, nil)
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is an error of the disk like any other.
        signal(SIGXFSZ, SIG_IGN)
        descriptor = signalfd(-1, &mask, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else { throw LifeCycleError.signals(errno: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Calls the handler on the loop for each signal that comes, until the loop ends.
    func deliver(on loop: EventLoop, to handler: @escaping (Received) -> Void) {
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
