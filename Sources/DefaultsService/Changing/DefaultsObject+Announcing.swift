import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging

/// The reply to a change, and then the signal for everybody else.
extension DefaultsObject {
    /// Answers a call that was no change, or had been made before.
    func conclude(_ call: MethodCall, at generation: Generation, isDurable: Bool = false) throws {
        guard isDurable else { return try reply(to: call, generation) }
        waitUntilDurable { self.reply(to: call, generation, once: $0) }
    }

    /// Answers the call that made a change, and sends the signal after that.
    ///
    /// If either cannot be sent, the change is still made and goes to disk.
    func conclude(_ call: MethodCall, with change: ChangeSet, isDurable: Bool = false) throws {
        guard isDurable else {
            defer { conclude(change) }
            return try reply(to: call, change.generation)
        }
        announce(announcements.add(change, isReplied: false))
        // This comes first: it schedules the flush that the wait makes urgent.
        noteChange()
        waitUntilDurable { outcome in
            self.reply(to: call, change.generation, once: outcome)
            self.announce(self.announcements.noteReply(to: change))
        }
    }

    /// Announces a change that no call made.
    func conclude(_ change: ChangeSet) {
        announce(announcements.add(change, isReplied: true))
        noteChange()
    }

    private func reply(to call: MethodCall, _ generation: Generation) throws {
        try call.reply { try GenerationReply.write(generation.rawValue, to: &$0) }
    }

    /// Answers when the flush has succeeded or failed.
    private func reply(
        to call: MethodCall, _ generation: Generation,
        once outcome: Result<Generation, StorageError>
    ) {
        switch outcome {
        case .success:
            // If the reply cannot be sent, the caller gets that error instead, or it has left.
            try? reply(to: call, generation)
        case .failure(let error):
            call.fail(DefaultsError(notDurable: generation, error))
        }
    }

    /// Announces the changes that came from the crash journal, in one signal for each layer of a domain.
    ///
    /// The previous process may have ended between a reply and its signal.
    func announceRecovered() {
        announce(
            recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation })
        recovered = []
    }

    /// Announces the domains that a repair has changed.
    func announce(_ rescued: [RescuedDomain], at generation: Generation) {
        announce(rescued.map { Announcement($0, at: generation) })
    }

    /// Sends signals.
    ///
    /// The callers already have their replies, so a failure is only logged.
    private func announce(_ announcements: [Announcement]) {
        for announcement in announcements {
            do {
                try connection.assumeIsolated { connection in
                    // The bus keeps signals for programs that do not read them, so these signals are short.
                    let announcement =
                        connection.isLargelyUnread ? announcement.withoutNames() : announcement
                    try connection.emit(announcement.signal)
                }
            } catch {
                logger.warning(
                    "Cannot announce change \(announcement.generation) on the bus: \(error)")
            }
        }
    }
}
