import DBus
import Dispatch
import Glibc
import SystemCalls

// Invariants
//
// 1. A process without a service has its own daemon only while it has calls for it, and for a moment
//    after: the daemon locks the database, and other processes of the user need it, too.
// 2. While it is held longer than `longestHold`, no changes are sent. They are sent by the next daemon,
//    after others had a turn. Calls in flight end first.
// 3. The process waits in the background for the end of a released daemon, and prints its errors.

/// A private daemon that this process is connected to.
struct HeldDaemon {
    let daemon: PrivateDaemon
    /// This process's end of the daemon's socket, which the connection has a duplicate of.
    let socket: FileDescriptor
    let start = ContinuousClock.now
    /// The end of the moment after the last call.
    var idleTimer: EventLoop.Timer?
}

/// The daemon that a process runs for itself when it reaches no service; on the loop's thread.
extension BusService {
    /// How long a daemon without calls is kept: longer than the pauses of a program at work.
    private static let idleTime = Duration.milliseconds(100)
    /// How long a daemon is kept that has calls.
    ///
    /// A read of another process waits for a daemon of its own for six seconds.
    private static let longestHold = Duration.milliseconds(500)
    /// How long others have to take the database.
    private static let turnOfOthers = Duration.milliseconds(100)

    /// Whether others are to have the database now (2).
    var mustGiveWay: Bool {
        privateDaemon.map { .now - $0.start > Self.longestHold } ?? false
    }

    /// Starts a daemon for this process alone.
    ///
    /// - Parameter reason: Why no service is reached.
    func usePrivateDaemon(because reason: String) {
        guard let loop else { return }
        do {
            let (daemon, socket) = try PrivateDaemon.start(with: variables)
            privateReason = reason
            privateDaemon = HeldDaemon(daemon: daemon, socket: socket)
            try adopt(Connection(calling: socket, on: loop))
            letGoWhenIdle()
        } catch {
            letGo()
            privateReason = nil
            enter(.unreachable(Self.sentence(error, reason)), isMissing: true)
            retryMuchLater()
        }
    }

    private static func sentence(_ error: any Error, _ reason: String) -> String {
        switch error as? PrivateDaemon.Failure {
        case .notInstalled:
            "\(reason), and no program defaultsd is installed that could be run instead."
        case .notAllowed:
            "\(reason), and a program that has more rights than its caller runs no daemon."
        case .cannotRun(let program, let words):
            "\(reason), and \(program) cannot be run: \(words)."
        case nil: "\(reason), and a private daemon is not reached: \(error)"
        }
    }

    /// Connects again after a daemon was let go of; in other cases a timer does, or a search is under
    /// way.
    func connectIfReleased() {
        guard connection == nil, privateReason != nil, retryTimer == nil else { return }
        connect()
    }

    /// Notes that a call has been answered.
    func noteCallEnded() {
        callsInFlight -= 1
        letGoWhenIdle()
    }

    /// Releases the daemon after a moment without calls.
    private func letGoWhenIdle() {
        guard let loop, privateDaemon != nil, callsInFlight == 0 else { return }
        privateDaemon?.idleTimer?.cancel()
        let timer = loop.schedule(after: mustGiveWay ? .zero : Self.idleTime) { [weak self] in
            self?.letGoIfIdle()
        }
        privateDaemon?.idleTimer = timer
    }

    private func letGoIfIdle() {
        guard callsInFlight == 0 else { return }
        letGo()
        guard !queue.isEmpty, let loop else { return }
        loop.schedule(after: Self.turnOfOthers) { [weak self] in self?.connectIfReleased() }
    }

    /// Releases the daemon, which writes everything and ends, and waits for that in the background (3).
    private func letGo() {
        guard let held = privateDaemon else { return }
        held.idleTimer?.cancel()
        privateDaemon = nil
        close()
        // A child that was forked has the socket, too; this ends it for all.
        shutdown(held.socket.number, Int32(SHUT_RDWR))
        forgetCalls()
        waitForEnd(of: held.daemon) { status, complaint in
            // A daemon that was released before it was ready reports no real problem.
            if status != 0, status != EX_UNAVAILABLE, let complaint {
                StandardError.say(complaint, from: "defaults")
            }
        }
    }

    /// Waits for the end of a daemon, on another thread, and prints its warnings.
    private func waitForEnd(
        of daemon: PrivateDaemon,
        _ completion: @escaping @Sendable (_ status: Int32, _ complaint: String?) -> Void
    ) {
        DispatchQueue.global().async(group: endings) {
            let status = daemon.waitUntilExit()
            for warning in daemon.warnings { StandardError.say(warning, from: "defaults") }
            completion(status, daemon.complaint)
        }
    }

    /// Handles a daemon that has ended by itself: it cannot serve, or was killed.
    func privateDaemonHasEnded() {
        guard let held = privateDaemon else { return }
        privateDaemon = nil
        held.idleTimer?.cancel()
        losses += 1
        waitForEnd(of: held.daemon) { _, complaint in self.onLoop { $0.afterEnd(complaint) } }
    }

    private func afterEnd(_ complaint: String?) {
        guard connection == nil, !isSearching else { return }
        if complaint == nil, losses <= Self.mostLosses { return connect() }
        enter(.unreachable(complaint ?? "The private daemon has ended."))
        retryMuchLater()
    }

    // MARK: At the end of the process

    /// Waits for the answers to all changes, for a limited time, and prints which changes are lost.
    func flushAtExit() {
        guard !Fork.isChild, let loop, !loop.isCurrent else { return }
        let end = DispatchTime.now() + exitBound
        let news = DispatchSemaphore(value: 0)
        let wasUnreachable = lock.change { access in
            for copy in access[shared].table.copies.values {
                _ = access[copy.state].outbox.whenLastIsDone { _ in news.signal() }
            }
            access[shared].whenUnreachable = { news.signal() }
            return access[shared].isUnreachable
        }
        while hasUnsent, wasUnreachable || !isUnreachable, news.wait(timeout: end) == .success {}
        let isLetGo = DispatchSemaphore(value: 0)
        onLoop { service in
            service.letGo()
            isLetGo.signal()
        }
        if isLetGo.wait(timeout: end) == .success { _ = endings.wait(timeout: end) }
        tellLosses()
    }

    /// Whether changes wait for an answer.
    private var hasUnsent: Bool {
        lock.read { access in
            access[shared].table.copies.values.contains { !access[$0.state].outbox.isEmpty }
        }
    }

    /// A second; longer if this process may have to wait for its turn at the database.
    private var exitBound: DispatchTimeInterval {
        switch state {
        case .privateDaemon, .connecting: .seconds(6)
        case .unreachable, .current, .following, .inMemory: .seconds(1)
        }
    }

    /// Prints which changes are lost with the end of this process.
    private func tellLosses() {
        let unsent = lock.read { access in
            access[shared].table.copies.mapValues { access[$0.state].outbox.keys.count }
        }
        var reason = "no answer came in time."
        if case .unreachable(let cause) = state { reason = cause }
        for (domain, count) in unsent.sorted(by: { $0.key < $1.key }) where count > 0 {
            let keys = count == 1 ? "The change of a key" : "Changes of \(count) keys"
            StandardError.say(
                "\(keys) of \(domain) may be lost: \(reason)", from: "defaults")
        }
    }
}
