import DBus
import DconfFiles
import DefaultsDconf
import DefaultsModel

// Invariants
//
// 1. A signal has the names of settings and no values. It is sent after the file has the new values, and
//    after the reply to its call.
// 2. A program in a sandbox gets no name of a domain that it may not read. If a signal
//    names only a directory, it hears of the outermost one. So each signal is sent to its
//    receivers one by one, as those of the contract are.

/// Sends the signals of dconf's interface.
extension DconfDoor {
    /// The pause between two questions about who listens.
    private static let pauseOfQuestions = Duration.milliseconds(20)
    /// If more wait, programs hear only of the directory of all.
    private static let mostNotices = 4096

    /// Sends signals to those who listen now.
    func notify(_ notices: [DconfNotice]) {
        guard !notices.isEmpty else { return }
        state.outgoing += notices
        if state.outgoing.count > Self.mostNotices {
            let paths = Array(Set(state.outgoing.map(\.prefix)))
            state.outgoing = [DconfNotice(of: paths, tag: "")].compactMap(\.self)
        }
        askForListeners()
    }

    private func askForListeners() {
        guard !state.isAsking, state.askTimer == nil, !state.outgoing.isEmpty else { return }
        let notices = state.outgoing
        state.isAsking = true
        state.outgoing = []
        // The answer comes on this thread.
        nonisolated(unsafe) let door = self
        face.connection.assumeIsolated { connection in
            connection.queryListeners(to: [Self.signals]) { listeners in
                door.send(notices, to: listeners?.first)
            }
        }
    }

    private func send(_ notices: [DconfNotice], to listeners: Listeners?) {
        state.isAsking = false
        state.askTimer = face.connection.loop.schedule(after: Self.pauseOfQuestions) {
            self.state.askTimer = nil
            self.askForListeners()
        }
        guard let listeners else { return }
        let receivers = face.signals.receivers(listeners)
        for notice in notices {
            for receiver in receivers {
                let rules = listeners.paths?[receiver.name]
                guard rules?.contains(where: notice.matches) ?? true else { continue }
                if let notice = notice.limited(to: receiver.scope) {
                    send(notice, to: receiver.name)
                }
            }
        }
    }

    /// Sends a signal.
    ///
    /// No caller waits for it, so a failure is not reported.
    private func send(_ notice: DconfNotice, to receiver: BusName) {
        face.connection.assumeIsolated { connection in
            let changes =
                connection.isLargelyUnread && notice.changes.count > 1 ? [""] : notice.changes
            try? connection.emit(
                Dconf.writer, Dconf.interface, Dconf.notify.name, to: receiver
            ) { writer in
                try writer.writeString(notice.prefix)
                try writer.writeArray(of: "s") { array in
                    for change in changes { try array.writeString(change) }
                }
                try writer.writeString(notice.tag)
            }
        }
    }
}

extension DconfNotice {
    /// The same with only what a program may read; nil if that is nothing.
    ///
    /// - Parameter scope: Nil for everything.
    fileprivate func limited(to scope: AccessScope?) -> DconfNotice? {
        guard let scope else { return self }
        // So much has changed that only the directory is named. Its name may say too much.
        if changes == [""], prefix.hasSuffix("/") { return DconfNotice(of: ["/"], tag: "") }
        let paths = changes.map { prefix + $0 }.filter { path in
            guard let domain = SettingsPath(path)?.domain else { return false }
            return (try? Domain(name: domain, layer: .domain)).map(scope.mayRead) ?? false
        }
        return DconfNotice(of: paths, tag: tag)
    }
}
