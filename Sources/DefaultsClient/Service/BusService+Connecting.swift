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
                try connection.onSignal(Self.changeRule, isAsked: false) { [weak self] in
                    self?.changed($0)
                }
            }
            self.connection = connection
            rules = 0
            noteAnswer()
            detach()
            enter(.connecting)
            lock.reading { unfollowed = Array(table.copies.values) }
            followNewDomains()
        } catch {
            enter(.unreachable("There is no way to the bus: \(error)."))
            retryLater()
        }
    }

    private func disconnected() {
        connection = nil
        forgetCalls()
        enter(.unreachable("The bus has ended."))
        retryLater()
    }

    private static let ownerRule: MatchRule = {
        var rule = MatchRule(
            sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged")
        rule.arguments[0] = Contract.busName.string
        return rule
    }()

    /// The signals of all domains.
    ///
    /// The bus is asked for those of each domain.
    ///
    /// The sender is not part of the rule here, as its owner may be another in a moment: what somebody
    /// else might send in its name is a reason to ask the service, and nothing more.
    private static let changeRule = MatchRule(
        path: Contract.objectPath, interface: Contract.interface, member: Contract.changed.name)

    private func ownerChanged(_ signal: Signal) {
        // While nobody serves, nobody changes anything: what is held stays current.
        guard signal.arguments.count == 3, case .string(let owner) = signal.arguments[2],
            !owner.isEmpty
        else { return }
        detach()
        noteAnswer()
        if case .unreachable = lock.reading({ state }) { enter(.connecting) }
        askAgain()
    }

    /// Forgets how current the copies are, and that something is on its way.
    private func detach() {
        forgetCalls()
        isConfined = false
        mapped = nil
        lock.withLock { for copy in table.copies.values { copy.detach() } }
    }

    /// Takes no more answers to what is on its way.
    ///
    /// What is held stays, and so does the page, which tells how current that is.
    private func forgetCalls() {
        attachment += 1
        sent = 0
        lock.reading { for copy in table.copies.values { copy.forgetCalls() } }
    }

    /// Begins to follow the domains that have come since.
    func followNewDomains() {
        guard let connection else { return }
        let copies = lock.reading {
            defer { unfollowed = [] }
            return unfollowed
        }
        guard !copies.isEmpty else { return }
        for copy in copies where rules <= Self.mostRules {
            rules += 1
            var rule = Self.changeRule
            if rules <= Self.mostRules { rule.arguments[0] = copy.name }
            // Where that fails the connection has ended, and all is followed anew on the next one.
            try? connection.assumeIsolated { try $0.ask(for: rule) }
        }
        attach(copies)
        for copy in copies { sendNext(of: copy) }
    }

    private func changed(_ signal: Signal) {
        guard let change = try? DefaultsChange(signal),
            change.origin != connection?.uniqueName?.string
        else { return }
        let copy = lock.reading { () -> DomainCopy? in
            guard let copy = table.copies[change.domain] else { return nil }
            copy.noteForeignChange(change)
            return copy.isObserved ? copy : nil
        }
        if let copy { refresh([copy]) }
    }
}
