import DBus
import DefaultsProtocol

/// The way to the bus and to the daemon; on the loop's thread.
extension BusService {
    func connect() {
        guard let loop, connection == nil else { return }
        do {
            let connection = try Connection(to: bus, on: loop)
            try connection.assumeIsolated { connection in
                connection.onDisconnect { [weak self] in self?.disconnected() }
                try connection.onSignal(Self.ownerRule) { [weak self] in self?.ownerChanged($0) }
            }
            self.connection = connection
            retryDelay = Self.firstRetry
            followed = []
            for copy in lock.reading({ table.copies.values.map { $0 } }) { follow(copy.name) }
            meet()
        } catch {
            enter(.unreachable("There is no way to the bus: \(error)."))
            retry { $0.connect() }
        }
    }

    private static let ownerRule: MatchRule = {
        var rule = MatchRule(
            sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged")
        rule.arguments[0] = Contract.busName.string
        return rule
    }()

    private func disconnected() {
        connection = nil
        forgetCalls()
        enter(.unreachable("The bus has ended."))
        retry { $0.connect() }
    }

    /// Tries something again later, and later still the next time.
    private func retry(_ body: @escaping @Sendable (BusService) -> Void) {
        nextRetry?.cancel()
        nextRetry = loop?.schedule(after: retryDelay) { body(self) }
        retryDelay = min(retryDelay * 2, Self.lastRetry)
    }

    private func ownerChanged(_ signal: Signal) {
        guard signal.arguments.count == 3, case .string(let owner) = signal.arguments[2] else {
            return
        }
        // The page tells of no more changes than before while nobody serves: what is held is current.
        guard !owner.isEmpty else { return }
        meet()
    }

    /// Begins with a daemon of which nothing is known yet.
    private func meet() {
        forgetCalls()
        mapped = nil
        isConfined = false
        hasFailed = false
        lock.reading { for copy in table.copies.values { copy.detach() } }
        enter(.connecting)
        attachAll()
    }

    /// Takes no more answers to calls that are on their way.
    ///
    /// What is held stays, with the page that tells how current it is: others may have a service again
    /// before this process knows of it.
    private func forgetCalls() {
        attachment += 1
        lock.reading { for copy in table.copies.values { copy.isRefreshing = false } }
    }

    // MARK: Domains

    /// Begins with domains that have come since.
    func begin(_ copies: [DomainCopy]) {
        guard connection != nil else { return }
        for copy in copies { follow(copy.name) }
        attach(copies)
        for copy in copies { sendNext(of: copy) }
    }

    /// Has the bus send the changes of a domain.
    ///
    /// The sender is not part of the rule here, as its owner may be another in a moment: what somebody
    /// else might send in its name is a hint to ask the service, and nothing more.
    private func follow(_ domain: String) {
        guard followed.insert(domain).inserted else { return }
        let rule = MatchRule(
            path: Contract.objectPath, interface: Contract.interface, member: Contract.changed.name,
            arguments: [0: domain])
        do {
            try connection?.assumeIsolated { connection in
                try connection.onSignal(rule) { [weak self] in self?.changed($0) }
            }
        } catch {
            // The connection has ended, and all is followed anew on the next one.
        }
    }

    /// Asks for all domains anew, and sends what waits to be sent.
    func attachAll() {
        let copies = lock.reading { Array(table.copies.values) }
        attach(copies)
        lock.reading { for copy in copies { copy.sendAgain() } }
        for copy in copies { sendNext(of: copy) }
    }

    private func changed(_ signal: Signal) {
        guard let change = try? DefaultsChange(signal) else { return }
        guard change.origin != connection?.uniqueName?.string else { return }
        let isObserved = lock.reading {
            guard let copy = table.copies[change.domain] else { return false }
            copy.noteForeignChange(change.generation, of: change.changed + change.removed)
            return copy.isObserved
        }
        if isObserved, let copy = lock.reading({ table.copies[change.domain] }) { refresh([copy]) }
    }

    // MARK: Failures

    /// Asks again where a call was lost.
    ///
    /// At once for the first time, as a daemon that has ended is started by the next call; later, and
    /// where no signal would tell, when that was in vain.
    func failed(_ error: any Error, attachment: Int) {
        guard attachment == self.attachment, connection != nil else { return }
        forgetCalls()
        guard hasFailed else {
            hasFailed = true
            return attachAll()
        }
        enter(.unreachable("\(error)"))
        let attachment = self.attachment
        retry { service in
            guard attachment == service.attachment, service.connection != nil else { return }
            service.attachAll()
        }
    }
}
