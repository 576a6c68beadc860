import Confinement
import DBus
import Glibc
package import SystemCalls

// Invariants
//
// 1. The helper is made before the daemon has a second thread, and before it reads anything.
// 2. It has nothing of the daemon but one end of a socket, and ends when the other end is closed. It
//    does nothing but answer requests.
// 3. It cannot run programs, make sockets, or reach into other processes: its filter of system calls
//    denies that.
// 4. The daemon waits for an answer only for a bounded time. Without an answer it opens nothing to
//    anybody: a caller that could not be examined counts as one in a sandbox.

/// A process beside the daemon that is not confined as the daemon is.
///
/// It says who a process is, and opens files of the daemon's own where the kernel denies them to the
/// daemon.
///
/// The kernel lets a confined process examine no process outside of its confinement. If the service
/// manager gives the daemon a user namespace of its own, that is so for the helper, too. Then another
/// process of this program says who a process is, which the manager starts outside (``Examiner``).
package struct HelperProcess: Sendable {
    /// What the system calls it.
    static let name = "defaultsd-help"

    /// Where the daemon asks for files.
    package let requests: RequestSocket
    /// Where the daemon asks who a process is.
    let examinations: RequestSocket

    /// Starts it, while this process has one thread.
    package static func start() throws(SystemError) -> HelperProcess {
        let (own, other) = try RequestSocket.pair()
        let examiner = ProcessExaminer()
        try ForkedProcess.start(named: name, keeping: other) { socket in
            // Without it, it does no more than the daemon would.
            try? SystemCallFilter.ofHelper(getpid()).apply()
            var files = FileKeeper()
            RequestSocket.serve(on: socket) { request in
                examiner.answer(request) ?? files.answer(request) ?? RequestSocket.Letter(Parcel())
            }
        }
        let requests = RequestSocket(on: own)
        let outside = try Examiner.connectToOutside().map { RequestSocket(on: $0) }
        return HelperProcess(requests: requests, examinations: outside ?? requests)
    }

    /// Calls a closure on the loop when it has ended, or does not answer.
    func onEnd(on loop: EventLoop, _ handler: @escaping () -> Void) {
        for socket in [requests, examinations] {
            var watch: EventLoop.Watch?
            watch = loop.watch(socket.descriptor.number, for: .readable) { _ in
                // An answer to another thread can be the event, too.
                guard socket.hasEnded else { return }
                watch?.cancel()
                handler()
            }
            guard requests !== examinations else { return }
        }
    }
}
