import DBus
import DefaultsProtocol

/// What is done when there is no answer; on the loop's thread.
extension BusService {
    /// Notes that the service answers.
    func noteAnswer() {
        losses = 0
        retryDelay = Self.firstRetry
    }

    /// Does what is right when a call was lost, whose outcome nobody knows.
    func lost(_ error: any Error, _ attachment: Int) {
        guard attachment == self.attachment, connection != nil else { return }
        // What comes of a private daemon's end is for `privateDaemonHasEnded`.
        if privateDaemon != nil, (error as? DBusError)?.name == .disconnected { return }
        if Self.isWithoutOwner(error) { return searchServiceIfDue() }
        losses += 1
        if losses <= Self.mostLosses {
            askAgain()
        } else {
            enter(.unreachable("\(error)"))
            retryLater()
        }
    }

    /// Whether the bus says that no process owns the service's name.
    static func isWithoutOwner(_ error: any Error) -> Bool {
        let name = (error as? DBusError)?.name
        return name == .nameHasNoOwner || name == .serviceUnknown
    }

    /// Searches for the service, unless a timer says when one that does not start is tried again.
    func searchServiceIfDue() {
        if retryTimer == nil { searchService() }
    }

    /// Asks for what is not current, and sends what waits to be sent.
    ///
    /// Where the service is unreachable something is asked in any case, or its answer would be missed.
    func askAgain() {
        let (copies, stale) = lock.reading {
            let copies = Array(table.copies.values)
            let stale = copies.filter { !$0.isCurrent }
            return (copies, stale.isEmpty && isUnreachable ? Array(copies.prefix(1)) : stale)
        }
        attach(stale)
        for copy in copies { sendNext(of: copy) }
    }

    /// Tries again later, and later still the next time.
    func retryLater() {
        guard let loop, retryTimer == nil else { return }
        retryTimer = loop.schedule(after: retryDelay) { [weak self] in
            guard let self else { return }
            retryTimer = nil
            if connection == nil { connect() } else { askAgain() }
        }
        retryDelay = min(retryDelay * 2, Self.lastRetry)
    }

    /// Tries again after a while in which the user can repair what keeps the service from starting.
    ///
    /// systemd gives up a unit that is started too often.
    func retryMuchLater() {
        retryDelay = max(retryDelay, Self.repairTime)
        retryLater()
    }
}
