import DefaultsCore
import DBus
import DefaultsModel
import DefaultsProtocol
import Logging

/// Sends the signals about changes to those who listen on the bus, or to the peer of a connection without one.
///
/// Invariants:
/// 1. A program in a sandbox gets no signal of a domain that it may not read at the moment of sending. So
///    on a bus each signal is sent to its receivers one by one, and never to all: nobody knows who
///    listens by the time when the bus passes it on.
/// 2. A signal leaves in the order in which it was added, which is after the reply to its change.
final class Signals {
    /// If more signals than this would be sent at once, those of each layer are joined.
    private static let mostAtOnce = 10_000

    /// A connection that gets signals, and what it may read; nil for everything.
    typealias Receiver = (name: BusName, scope: AccessScope?)

    /// What the listeners to signals of doors get.
    struct Others {
        /// The signals of doors.
        let addresses: [SignalAddress]
        /// Called with the changes, and with the listeners to each of the addresses.
        let send: ([Announcement], [Listeners]) -> Void
    }

    private let connection: Connection
    private let logger: Logger
    private let others: Others
    /// What a program may read at this moment; nil for everything.
    private let scope: (PeerCredentials?) -> AccessScope?
    /// The signals that wait until it is known who is to get them.
    private var audience = Audience()
    /// Fires when the bus is to be queried for listeners.
    private let alarm: Alarm
    /// Who waits until this many signals have been sent.
    private var waiting: [(count: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

    init(
        on connection: Connection, logger: Logger, others: Others,
        scope: @escaping (PeerCredentials?) -> AccessScope?
    ) {
        self.connection = connection
        alarm = Alarm(on: connection.loop)
        self.logger = logger
        self.others = others
        self.scope = scope
    }

    /// How many signals wait.
    var count: Int { audience.count }

    /// Sends signals as soon as it is known who gets them.
    func add(_ announcements: [Announcement]) {
        guard connection.uniqueName != nil else { return send(announcements, to: nil) }
        for announcement in announcements { audience.add(announcement) }
        queryListeners()
    }

    /// Waits until all signals up to now have been sent.
    nonisolated(nonsending) func sent() async {
        audience.isInHurry = true
        defer { audience.isInHurry = false }
        stopTimer()
        queryListeners()
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard !audience.isEmpty else { return continuation.resume() }
            waiting.append((audience.added, continuation))
        }
    }

    /// Lets those go on that wait: nothing more can be sent.
    func giveUp() { endWaits(isOver: true) }

    /// Asks the bus no more.
    func stopTimer() { alarm.stop() }

    private func endWaits(isOver: Bool = false) {
        let waiting = waiting
        let isDone = isOver || audience.isEmpty
        self.waiting = waiting.filter { !isDone && $0.count > audience.answered }
        for (count, continuation) in waiting where isDone || count <= audience.answered {
            continuation.resume()
        }
    }

    // MARK: Who gets them

    private var now: SuspendingClock.Instant { connection.loop.now }

    private func queryListeners() {
        guard let delay = audience.delayOfQuery(at: now) else { return }
        alarm.set(after: delay) { self.beginQuery() }
    }

    private func beginQuery() {
        audience.beginQuery(at: now)
        // The answer comes on this thread.
        nonisolated(unsafe) let signals = self
        let addresses = [ChangedSignal.address] + others.addresses
        connection.assumeIsolated { connection in
            connection.queryListeners(to: addresses) { signals.finishQuery($0) }
        }
    }

    /// - Parameter listeners: Those to the contract's signal, and to those of others; nil if the bus does not
    ///   answer.
    private func finishQuery(_ listeners: [Listeners]?) {
        // After the end of the connection nobody can be told.
        let isOver = listeners == nil && !connection.assumeIsolated { $0.isOpen }
        let announcements = audience.finishQuery(
            at: now, hasAnswer: listeners != nil || isOver)
        if let listeners {
            send(announcements, to: listeners[0])
            others.send(announcements, Array(listeners.dropFirst()))
        }
        queryListeners()
        endWaits()
    }

    /// Who gets the signals that are sent in this turn of the loop.
    ///
    /// What is granted may be another in the next one, so nobody keeps the answer.
    func receivers(_ listeners: Listeners) -> [Receiver] {
        listeners.all.map { (name: $0.name, scope: scope($0.credentials)) }
    }

    private func send(_ announcements: [Announcement], to listeners: Listeners) {
        let receivers = receivers(listeners)
        let areMany = announcements.count * receivers.count > Self.mostAtOnce
        for announcement in areMany ? Audience.joined(announcements) : announcements {
            for receiver in receivers where receiver.scope?.mayRead(announcement.domain) ?? true {
                send([announcement], to: receiver.name)
            }
        }
    }

    // MARK: Sending

    /// Sends signals.
    ///
    /// The callers already have their replies, so a failure is only logged.
    ///
    /// - Parameter receiver: Nil for the peer of a connection without a bus.
    private func send(_ announcements: [Announcement], to receiver: BusName?) {
        for announcement in announcements {
            do {
                try connection.assumeIsolated { connection in
                    // The bus queues signals for programs that do not read them, so these signals
                    // must be short.
                    let announcement =
                        connection.isLargelyUnread ? announcement.withoutNames() : announcement
                    try connection.emit(announcement.signal, to: receiver)
                }
            } catch {
                return logger.warning(
                    """
                    Cannot announce change \(announcement.generation) and later ones on the bus: \
                    \(error)
                    """)
            }
        }
    }
}
