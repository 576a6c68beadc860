import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// What the caller of a change and everybody else is told of it, in this order.
extension DefaultsObject {
    /// Answers a call that was no change, or had been made before.
    func conclude(_ call: MethodCall, at generation: Generation, isDurable: Bool = false) throws {
        guard isDurable else { return try reply(to: call, generation) }
        waitUntilDurable { self.reply(to: call, generation, once: $0) }
    }

    /// Answers the call that made a change, and sends the signal after that.
    ///
    /// Whatever becomes of the two, the change is made and goes to disk.
    func conclude(_ call: MethodCall, with change: ChangeSet, isDurable: Bool = false) throws {
        guard isDurable else {
            defer { conclude(change) }
            return try reply(to: call, change.generation)
        }
        announce(announcements.add(change, isReplied: false))
        // First, so that there is something for the demand to hasten.
        noteChange()
        waitUntilDurable { outcome in
            self.reply(to: call, change.generation, once: outcome)
            self.announce(self.announcements.noteReply(to: change))
        }
    }

    /// Tells everybody of a change that is no call's own.
    func conclude(_ change: ChangeSet) {
        announce(announcements.add(change, isReplied: true))
        noteChange()
    }

    private func reply(to call: MethodCall, _ generation: Generation) throws {
        try call.reply { try GenerationReply.write(generation.rawValue, to: &$0) }
    }

    /// Answers when the disk has spoken.
    private func reply(
        to call: MethodCall, _ generation: Generation,
        once outcome: Result<Generation, StorageError>
    ) {
        switch outcome {
        case .success:
            // A reply that cannot be sent has answered with that error, or nobody is there.
            try? reply(to: call, generation)
        case .failure(let error):
            call.fail(DefaultsError(notDurable: generation, error))
        }
    }

    /// Tells of the changes that came from the crash journal, in one signal for each layer of a domain.
    ///
    /// The process before may have ended between a reply and its signal.
    func announceRecovered() {
        announce(
            recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation })
        recovered = []
    }

    /// Tells of domains that are not as they were.
    func announce(_ rescued: [RescuedDomain], at generation: Generation) {
        announce(rescued.map { Announcement($0, at: generation) })
    }

    /// Sends signals.
    ///
    /// The callers have their replies already, so a failure is the log's business.
    private func announce(_ announcements: [Announcement]) {
        for announcement in announcements {
            do {
                try connection.assumeIsolated { connection in
                    // One who listens and does not read is to take little of what the bus keeps.
                    let announcement =
                        connection.isLargelyUnread ? announcement.withoutNames() : announcement
                    try connection.emit(announcement.signal)
                }
            } catch {
                logger.warning(
                    "Cannot tell of change \(announcement.generation) on the bus: \(error)")
            }
        }
    }
}
