import DBus
import DefaultsStorage
import Logging

/// From what ends the process to the last flush.
extension Daemon {
    func receive(_ signal: ProcessSignals.Received) {
        switch signal {
        case .refresh:
            object?.assumeIsolated { $0.demandFlush() }
            Task(executorPreference: loop) { await self.object?.readLayers() }
        case .stop: Task(executorPreference: loop) { await self.end(with: .success) }
        }
    }

    func callersHaveGone() {
        guard !isEnding else { return }
        var status = ExitStatus.success
        switch callers {
        case .bus, .busReplacingOther:
            logger.notice("The bus has gone; writing the last changes to disk.")
        case .peer where connection.assumeIsolated { $0.isAuthenticated }:
            logger.debug("The peer has gone.")
        case .peer:
            logger.critical("\(LifeCycleError.notAPeer)")
            status = ExitStatus(of: LifeCycleError.notAPeer)
        }
        Task(executorPreference: loop) { [status] in await self.end(with: status) }
    }

    /// Another daemon has the name: what has come is answered, and that one waits for our end.
    func wasReplaced() {
        guard !isEnding else { return }
        logger.notice("Another daemon takes over; answering what came before it.")
        isReplaced = true
        if isServing { Task(executorPreference: loop) { await self.end(with: .success) } }
    }

    /// Ends without the database, which cannot be used any more.
    func abandon(_ error: any Error) {
        logger.critical("\(error) The crash journal keeps the changes for the next start.")
        ServiceManager.notifyStopping(because: "\(error)")
        isEnding = true
        status = ExitStatus(of: error)
        loop.stop()
    }

    func end(with status: ExitStatus, because reason: String? = nil) async {
        guard !isEnding else { return }
        isEnding = true
        self.status = status
        ServiceManager.notifyStopping(because: reason)
        do {
            try await object?.stop()
        } catch {
            report(unwritten: error)
        }
        loop.stop()
    }

    /// Says why the disk lacks changes, which the crash journal keeps.
    ///
    /// For a peer that has changed nothing these are changes of programs before it, so its own
    /// command is done.
    private func report(unwritten error: any Error) {
        let sentence = "\(error) The crash journal keeps the changes for the next start."
        let failure = ExitStatus(of: error)
        let changes = object?.assumeIsolated { $0.statistics.changes } ?? 0
        if case .peer = callers, failure == .inputOutput, changes == 0 {
            return logger.warning("\(sentence)")
        }
        logger.error("\(sentence)")
        status = failure
    }
}
