import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

// Invariants
//
// 1. A program in a sandbox gets no signal of a domain that it may not read at the moment of sending. So
//    on a bus each signal is sent to its receivers one by one, and never to all: nobody knows who
//    listens by the time when the bus passes it on.
// 2. A signal leaves after the reply to its change, in the order of `Announcements`.

/// Sends the signals about changes.
extension DefaultsObject {
    /// If more signals than this would be sent at once, those of each layer are joined.
    private static let mostAtOnce = 10_000

    /// Announces the changes that were found in the crash journal, with one signal for each layer
    /// of a domain.
    ///
    /// The previous process may have ended between a reply and its signal.
    func announceRecovered() {
        announce(recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation })
        recovered = []
    }

    /// Announces the domains that a repair has changed.
    func announce(_ repaired: [RepairedDomain], at generation: Generation) {
        for domain in repaired { grants.noteChange(of: domain.domain) }
        announce(repaired.map { Announcement($0, at: generation) })
    }

    /// Sends signals to those who follow the domains, and to the bus.
    func announce(_ announcements: [Announcement]) {
        noteForDconf(announcements)
        for announcement in announcements {
            tellFollowers(announcement)
            if connection.uniqueName == nil {
                send([announcement], to: nil)
            } else {
                audience.add(announcement)
            }
        }
        queryListeners()
    }

    /// Waits until the signals of all changes up to now have been sent.
    func signalsSent() async {
        audience.isInHurry = true
        defer { audience.isInHurry = false }
        queryTimer?.cancel()
        queryTimer = nil
        queryListeners()
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard !audience.isEmpty else { return continuation.resume() }
            waitingForSignals.append((audience.added, continuation))
        }
    }

    /// Lets those go on that wait for signals.
    ///
    /// - Parameter isOver: Whether nothing more can be sent.
    func endWaitsForSignals(isOver: Bool = false) {
        let waiting = waitingForSignals
        let isDone = isOver || audience.isEmpty
        waitingForSignals = waiting.filter { !isDone && $0.count > audience.answered }
        for (count, continuation) in waiting where isDone || count <= audience.answered {
            continuation.resume()
        }
    }

    // MARK: Who gets them

    private func queryListeners() {
        guard queryTimer == nil, let delay = audience.delayOfQuery(at: now) else { return }
        queryTimer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { $0.beginQuery() }
        }
    }

    /// The services of desktops that have a signal for each change of a key.
    private var signalledDesktops: [DesktopService] { desktops.filter(\.hasSignalsOfKeys) }

    private func beginQuery() {
        queryTimer = nil
        audience.beginQuery(at: now)
        let addresses = [ChangedSignal.address] + signalledDesktops.map(\.signals)
        connection.assumeIsolated { connection in
            connection.queryListeners(to: addresses) { listeners in
                self.assumeIsolated { $0.finishQuery(listeners) }
            }
        }
    }

    /// - Parameter listeners: Those to the contract's signal, and to those of each service of a desktop
    ///   that is served; nil if the bus does not answer.
    private func finishQuery(_ listeners: [Listeners]?) {
        // After the end of the connection nobody can be told.
        let isOver = listeners == nil && !connection.assumeIsolated { $0.isOpen }
        let announcements = audience.finishQuery(
            at: now, hasAnswer: listeners != nil || isOver)
        if let listeners {
            send(announcements, to: listeners[0])
            for (desktop, listeners) in zip(signalledDesktops, listeners.dropFirst()) {
                send(announcements, of: desktop, to: listeners)
            }
        }
        queryListeners()
        endWaitsForSignals()
    }

    /// A connection that gets signals, and what it may read; nil for everything.
    typealias Receiver = (name: BusName, scope: AccessScope?)

    /// Who gets the signals that are sent in this turn of the loop.
    ///
    /// What is granted may be another in the next one, so nobody keeps the answer.
    func receivers(_ listeners: Listeners) -> [Receiver] {
        listeners.all.map { (name: $0.name, scope: scope(of: $0.credentials)) }
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
