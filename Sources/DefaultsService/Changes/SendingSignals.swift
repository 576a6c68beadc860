import DBus
import DefaultsModel
import DefaultsStorage

/// Says what has changed to all who follow it.
extension DefaultsObject {
    /// Makes what sends the signals on the bus.
    func makeSignals() -> Signals {
        // The services of desktops that have a signal for each change of a key.
        let signalled = desktops.filter(\.hasSignalsOfKeys)
        let others = Signals.Others(addresses: signalled.map(\.signals)) {
            [weak self] announcements, listeners in
            self?.assumeIsolated { object in
                for (desktop, listeners) in zip(signalled, listeners) {
                    object.send(announcements, of: desktop, to: listeners)
                }
            }
        }
        return Signals(on: connection, logger: logger, others: others) {
            [weak self] credentials in
            guard let self else { return AccessScope(ofApplication: nil) }
            return assumeIsolated { $0.scope(of: credentials) }
        }
    }

    /// Announces the changes that were found in the crash journal, with one signal for each layer
    /// of a domain.
    ///
    /// The previous process may have ended between a reply and its signal. A direct peer has no bus, so it
    /// gets no announcements of these changes.
    ///
    /// - Parameter recovered: The changes.
    func announce(recovered: [PendingNames]) {
        announce(recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation })
    }

    /// Announces the domains that a repair has changed.
    func announce(_ repaired: [RepairedDomain], at generation: Generation) {
        for domain in repaired { rights.noteChange(of: domain.domain) }
        announce(repaired.map { Announcement($0, at: generation) })
    }

    /// Sends signals to those who follow the domains, and to the bus.
    func announce(_ announcements: [Announcement]) {
        noteForDconf(announcements)
        for announcement in announcements { tellFollowers(announcement) }
        signals.add(announcements)
    }

    /// Waits until the signals of all changes up to now have been sent.
    func signalsSent() async { await signals.sent() }

    /// Sends a change to those who follow its domain.
    ///
    /// A signal does not say which machine's layer has changed. So that of another machine is sent
    /// without names.
    private func tellFollowers(_ announcement: Announcement) {
        var announcement = announcement
        if case .host(let host) = announcement.domain.layer, host != hosts.this.id {
            announcement = announcement.withoutNames()
        }
        for follower in followers.send(announcement) { catchUp(follower) }
    }

    /// Sends what a program has missed when it has read.
    private func catchUp(_ follower: Followers.Follower) {
        // The follower stays on this thread.
        nonisolated(unsafe) let follower = follower
        Task(executorPreference: connection.loop) {
            await follower.flush()
            await self.sendMissed(to: follower)
        }
    }

    private func sendMissed(to follower: Followers.Follower) { followers.sendMissed(to: follower) }
}
