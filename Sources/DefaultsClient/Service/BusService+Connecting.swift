import DBus
import DefaultsProtocol
import Synchronization

/// How the bus and the daemon are reached; on the loop's thread.
extension BusService {
    func connect() {
        guard connection == nil, !isSearching, !useSocket() else { return }
        openBus(asking: true)
    }

    /// Connects to the bus, which may take long to answer.
    ///
    /// - Parameter isAsking: Whether there is something to ask before the bus says that there is a daemon.
    func openBus(asking isAsking: Bool) {
        guard let loop else { return }
        isSearching = true
        Connection.open(bus, on: loop) { [weak self] outcome in
            guard let self else { return }
            isSearching = false
            do {
                // More may have come meanwhile.
                try adopt(outcome.get(), asking: isAsking || hasWork)
                isOnNamedBus = true
            } catch {
                cannotUseBus(error)
            }
        }
    }

    private func cannotUseBus(_ error: any Error) {
        guard bus != .session else { return searchService(after: error) }
        let reason = (error as? DBusError)?.message ?? "\(error)"
        noBus("There is no way to the bus: \(reason)")
    }

    private func noBus(_ reason: String) {
        enter(.unreachable(reason))
        retryLater()
    }

    /// Uses this connection from now on, and asks for everything on it.
    ///
    /// - Parameters:
    ///   - way: The state of the socket if it leads to the daemon without the bus; otherwise nil.
    ///   - isAsking: Whether there is something to ask before the bus says that there is a daemon.
    func adopt(
        _ new: Connection, by way: DirectState? = nil, asking isAsking: Bool = true
    ) throws {
        try new.assumeIsolated { connection in
            connection.onDisconnect { [weak self] in self?.disconnected() }
            try connection.onSignal(Self.ownerRule) { [weak self] in self?.ownerChanged($0) }
            try connection.onSignal(
                Self.changeRule, isAsked: false,
                isWanted: { [weak self] in self?.isNews($0) ?? false }
            ) { [weak self] in
                self?.changed($0)
            }
            try connection.onSignal(ChangedValuesSignal.rule, isAsked: false) { [weak self] in
                self?.changedValues($0)
            }
        }
        owner = nil
        close()
        connection = new
        isOnNamedBus = false
        rules = 0
        learnOwner(isNews: !isAsking)
        guard isAsking else { return }
        // A connection to a private daemon does not show that the daemon answers.
        if privateDaemon == nil { noteAnswer() }
        detach()
        if let way { direct = way } else if direct.isUsed { direct = .closed }
        // A process that goes from the bus to the socket has been answered.
        if privateReason == nil, way?.isOpen != true { enter(.connecting) }
        if way?.isOpen == false { proveSocket() }
        followAllDomains()
    }

    /// Asks for everything on a new connection.
    private func followAllDomains() {
        lock.change { access in
            access[shared].unfollowed = Array(access[shared].table.copies.values)
        }
        followNewDomains()
        sendQueued()
    }

    /// Closes the connection, and notifies nobody.
    func close() {
        let old = connection
        connection = nil
        noteOwner(isMissing: false)
        old?.assumeIsolated { $0.close() }
    }

    // MARK: The search for the service

    /// Searches for the service if nobody on the bus answers.
    ///
    /// - Parameter failure: Why the bus cannot be used; nil if it can.
    func searchService(after failure: (any Error)? = nil) {
        guard let loop, !isSearching else { return }
        isSearching = true
        let search = ServiceSearch(from: bus, on: loop)
        let connection = isOnNamedBus ? connection : nil
        Task(executorPreference: loop) {
            let outcome =
                if let failure { await search.run(after: failure) } else {
                    await search.run(with: connection)
                }
            self.onLoop { $0.found(outcome) }
        }
    }

    private func found(_ outcome: ServiceSearch.Outcome) {
        isSearching = false
        // The daemon has come meanwhile, and this process has gone from the bus to its socket.
        guard !direct.isUsed else { return }
        switch outcome {
        case .service(let found): use(found)
        case .failed(let error): notFound(error)
        case .nobody(let reason) where bus == .session: usePrivateDaemon(because: reason)
        case .nobody(let reason): noBus(reason)
        }
    }

    /// Notes that the service exists and could not be reached.
    private func notFound(_ error: any Error) {
        losses += 1
        // If a daemon is killed while it starts, another one follows. A unit that has failed is not
        // started again: systemd gives up a unit that fails often. Who was waited for in vain is asked
        // again later.
        let failure = error as? DBusError
        if let failure, failure.name != .timeout, losses <= Self.mostLosses {
            return searchService()
        }
        enter(.unreachable(failure?.message ?? "\(error)"))
        retryMuchLater()
    }

    private func use(_ found: Connection) {
        privateReason = nil
        guard found !== connection else {
            noteAnswer()
            if isUnreachable { enter(.connecting) }
            return askAgain()
        }
        do {
            try adopt(found)
        } catch {
            noBus("\(error)")
        }
    }

    private func disconnected() {
        connection = nil
        noteOwner(isMissing: false)
        isOnNamedBus = false
        forgetCalls()
        if direct.isUsed { return socketHasClosed() }
        direct.noteOther()
        if privateDaemon != nil { return privateDaemonHasEnded() }
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
    /// The bus is asked for the signals of each domain.
    ///
    /// The rule does not name the sender, because the service may get another owner at any time. The
    /// sender of each signal is checked when the signal comes.
    private static let changeRule = ChangedSignal.rule(from: nil)

    /// Asks who the service is, so that nobody else's signals are believed.
    ///
    /// A signal of the bus reports each later change of the owner.
    ///
    /// - Parameter isNews: Whether an owner is like another one that has come.
    private func learnOwner(isNews: Bool) {
        guard let connection, connection.uniqueName != nil else { return }
        connection.assumeIsolated { connection in
            connection.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
                write: { try $0.writeString(Contract.busName.string) },
                read: { try BusName(try $0.readString()) },
                completion: { [weak self] outcome in
                    guard let self, self.connection === connection else { return }
                    switch outcome {
                    case .success(let found) where isNews: ownerHasCome(found)
                    case .success(let found): owner = found
                    // The bus sends a signal when there is one.
                    case .failure(let error): noteOwner(isMissing: Self.isWithoutOwner(error))
                    }
                })
        }
    }

    private func ownerChanged(_ signal: Signal) {
        guard signal.arguments.count == 3, case .string(let owner) = signal.arguments[2] else {
            return
        }
        // Without a service nothing changes, so the copies stay current.
        guard !owner.isEmpty else { return noteOwner(isMissing: true) }
        if let owner = try? BusName(owner) { ownerHasCome(owner) }
    }

    private func noteOwner(isMissing: Bool) {
        isWithoutOwner.store(isMissing, ordering: .relaxed)
    }

    private func ownerHasCome(_ owner: BusName) {
        self.owner = owner
        noteOwner(isMissing: false)
        progress.add(1, ordering: .relaxed)
        direct.noteOther()
        detach()
        noteAnswer()
        if isUnreachable { enter(.connecting) }
        // Nothing has been asked on a connection that waited for the owner.
        if rules == 0 { followAllDomains() } else { askAgain() }
    }

    /// Forgets how current the copies are, and which calls are in flight.
    private func detach() {
        forgetCalls()
        isConfined = false
        mapped = nil
        lock.change { access in
            for copy in access[shared].table.copies.values { access[copy.state].detach() }
        }
    }

    /// Ignores the answers to the calls in flight.
    ///
    /// The copies stay, and so does the page, which shows how current they are.
    func forgetCalls() {
        attachment += 1
        sent = 0
        lock.change { access in
            for copy in access[shared].table.copies.values { access[copy.state].forgetCalls() }
        }
    }

    /// Begins to follow the domains that were added since the last time.
    func followNewDomains() {
        guard let connection else { return }
        let copies = lock.change { access in
            defer { access[shared].unfollowed = [] }
            return access[shared].unfollowed
        }
        guard !copies.isEmpty else { return }
        for copy in copies where rules <= Self.mostRules {
            rules += 1
            var rule = Self.changeRule
            if rules <= Self.mostRules { rule.arguments[ChangedSignal.domainIndex] = copy.name }
            // If this fails, the connection has ended. Then all domains are followed on the next one.
            try? connection.assumeIsolated { try $0.ask(for: rule) }
        }
        attach(copies)
        for copy in copies { sendNext(of: copy) }
    }

    /// Whether a signal comes from the service, and has to be read completely.
    ///
    /// If the copy of its domain needs only the domain and the layer, these are noted here.
    private func isNews(_ signal: Signal) -> Bool {
        guard owner == nil || signal.sender == owner else { return false }
        progress.add(1, ordering: .relaxed)
        guard let (domain, layer) = ChangedSignal.place(of: signal) else { return false }
        return lock.change { access in
            guard let copy = access[shared].table.copies[domain] else { return false }
            return !copy.noteUnread(layer: layer, access)
        }
    }

    private func changed(_ signal: Signal) {
        guard let change = try? ChangedSignal(signal),
            change.origin != connection?.uniqueName?.string
        else { return }
        let copy = lock.change { access -> DomainCopy? in
            guard let copy = access[shared].table.copies[change.domain] else { return nil }
            copy.noteForeignChange(change, access)
            return copy.isObserved(access.read) ? copy : nil
        }
        if let copy { refresh([copy]) }
    }
}

/// Where a bus is.
public enum DefaultsBus: Sendable, Hashable {
    /// The bus of the user's session, by `DBUS_SESSION_BUS_ADDRESS` or its standard place.
    case session
    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)

    var address: Address {
        switch self {
        case .session: .session
        case .address(let address): .address(address)
        }
    }
}
