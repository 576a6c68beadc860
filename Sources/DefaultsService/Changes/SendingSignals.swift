import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

// Invariants
//
// 1. A program in a sandbox gets no signal of a domain that it may not read. So on a bus each signal
//    is sent to its receivers one by one. There is one exception: if the bus does not tell who
//    listens, and has no connection of a sandbox, a signal is sent to all.
// 2. A signal leaves after the reply to its change, in the order of `Announcements`.

/// Sends the signals about changes.
extension DefaultsObject {
    /// If more signals than this have to be sent because the bus does not tell who listens, those of
    /// a domain are joined.
    private static let mostToEverybody = 1000

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
        announce(repaired.map { Announcement($0, at: generation) })
    }

    /// Sends signals to those who follow the domains, and to the bus.
    func announce(_ announcements: [Announcement]) {
        for announcement in announcements {
            // A repair changes domains, too.
            grants.noteChange(of: announcement.domain)
            tellFollowers(announcement)
            if connection.uniqueName == nil {
                send([announcement], to: nil)
            } else {
                audience.add(announcement)
            }
        }
        queryListeners()
    }

    /// Waits until all signals have been sent.
    func signalsSent() async {
        audience.isInHurry = true
        defer { audience.isInHurry = false }
        queryTimer?.cancel()
        queryTimer = nil
        queryListeners()
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            guard !audience.isEmpty else { return continuation.resume() }
            waitingForSignals.append(continuation)
        }
    }

    // MARK: Who gets them

    private func queryListeners() {
        guard queryTimer == nil, let delay = audience.delayOfQuery(at: .now) else { return }
        queryTimer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { $0.beginQuery() }
        }
    }

    private func beginQuery() {
        queryTimer = nil
        audience.beginQuery(at: .now)
        connection.assumeIsolated { connection in
            connection.queryListeners { listeners in
                self.assumeIsolated { $0.finishQuery(listeners) }
            }
        }
    }

    /// - Parameter listeners: Nil if the bus does not answer, and then nobody can be told.
    private func finishQuery(_ listeners: Listeners?) {
        let announcements = audience.finishQuery(at: .now)
        if let listeners { send(announcements, to: listeners) }
        queryListeners()
        guard audience.isEmpty else { return }
        for continuation in waitingForSignals { continuation.resume() }
        waitingForSignals = []
    }

    private func send(_ announcements: [Announcement], to listeners: Listeners) {
        let receivers = listeners.all.map { (name: $0.name, scope: scope(of: $0.credentials)) }
        guard listeners.haveRules || receivers.contains(where: { $0.scope != nil }) else {
            return send(announcements, to: nil)
        }
        let areMany =
            !listeners.haveRules
            && announcements.count * receivers.count > Self.mostToEverybody
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
    /// - Parameter receiver: Nil for all.
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
