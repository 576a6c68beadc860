import DBus
import DefaultsCore
import DefaultsModel
import DefaultsStorage

/// Says what has changed to all who follow it.
extension BusFace {
    /// Makes what sends the signals on the bus.
    func makeSignals() -> Signals {
        let others = Signals.Others(addresses: doors.compactMap { $0.keySignals?.address }) {
            [weak self] announcements, listeners in
            let doors = self?.doors.compactMap(\.keySignals) ?? []
            for (door, listeners) in zip(doors, listeners) {
                door.send(announcements, to: listeners)
            }
        }
        return Signals(on: connection, logger: logger, others: others) { [weak self] in
            guard let self else { return AccessScope(ofApplication: nil) }
            return scope(of: $0)
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
        changed(
            recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation }, by: nil)
    }

    /// Waits until the signals of all changes up to now have been sent.
    nonisolated(nonsending) func signalsSent() async { await signals.sent() }

    /// Sends a change to those who follow its domain.
    ///
    /// A signal does not say which machine's layer has changed. So that of another machine is sent
    /// without names.
    func tellFollowers(_ announcement: Announcement) {
        var announcement = announcement
        if case .host(let host) = announcement.domain.layer, host != hosts.this.id {
            announcement = announcement.withoutNames()
        }
        for follower in followers.send(announcement) { catchUp(follower) }
    }

    /// Sends what a program has missed when it has read.
    private func catchUp(_ follower: Followers.Follower) {
        // The follower stays on this thread.
        nonisolated(unsafe) let (follower, followers) = (follower, followers)
        start { _ in
            await follower.flush()
            followers.sendMissed(to: follower)
        }
    }
}
