import DBus
import DefaultsProtocol
import Synchronization

// Invariants
//
// 1. One thread, the loop's, talks with the bus; whoever else wants something hands it over. Nothing
//    of the application runs there but what is told of changes at once.
// 2. The lock is held for moments only, never while something is waited for.
// 3. No wait is without a bound, and where nobody reaches the service nothing is waited for at all.
// 4. Who waits for a copy is let go by the answer to a question that was sent after they came, or
//    when the service turns out to be unreachable.
// 5. What is answered to a question of an earlier attachment changes no copy: an attachment ends with
//    the daemon that was asked, and with the connection.

/// The daemon at a bus, as one process reaches it.
///
/// There is one for each bus, on a thread of its own. What the loop's thread alone uses is marked so;
/// all else is used under the lock (`@unchecked Sendable`).
final class BusService: Service, @unchecked Sendable {
    let lock = Guard()
    let states = Broadcast<DefaultsState>()
    private let bus: Address
    /// Nil where the process has no thread or descriptor to spare.
    let loop: EventLoop?

    // Under the lock.
    private(set) var table = StoreTable(holdsLarge: false)
    private(set) var state = DefaultsState.connecting
    /// Whether somebody has waited for an answer in vain, and none has come since.
    private var isSilent = false
    /// The domains that the bus has not been asked to tell of.
    private var unfollowed: [DomainCopy] = []

    // The loop's thread alone.
    private(set) var connection: Connection?
    /// The number of the attachment; see the invariants.
    private(set) var attachment = 0
    /// Whether the service does not let this process have the page.
    var isConfined = false
    /// The page of this attachment.
    var mapped: CounterPage?
    private var retryDelay = BusService.firstRetry
    private var retryTimer: EventLoop.Timer?
    /// How many rules the bus has for this connection.
    private var rules = 0
    /// How many calls were lost, one after the other.
    private var losses = 0
    /// How many batches are on their way in this attachment.
    var sent = 0
    /// The copies whose batches wait for others to be answered.
    var queue: ArraySlice<DomainCopy> = []

    /// So many domains are followed one by one.
    ///
    /// From then on the bus is asked for the signals of all, as it compares each signal with each
    /// rule.
    private static let mostRules = 64
    /// How long a thread waits for the service.
    static let patience = Duration.seconds(2)
    /// How long until a bus that is not there is tried again, at first and at last.
    private static let firstRetry = Duration.milliseconds(100)
    private static let lastRetry = Duration.seconds(30)
    /// So many calls that were lost are sent again at once: a daemon that dies is followed by another.
    private static let mostLosses = 3

    private static let services = Mutex<[Address: BusService]>([:])

    /// The service at a bus.
    ///
    /// Not in a forked process, where its locks may be held for ever.
    static func at(_ bus: Address) -> BusService {
        Fork.watch()
        return services.withLock { services in
            if let service = services[bus] { return service }
            let service = BusService(bus)
            services[bus] = service
            AtExit.call { service.flushAtExit() }
            return service
        }
    }

    private init(_ bus: Address) {
        self.bus = bus
        do {
            loop = try EventLoop.startThread(named: "defaults")
        } catch {
            loop = nil
            state = .unreachable("\(error)")
        }
        onLoop { $0.connect() }
    }

    /// Has something done on the loop's thread.
    func onLoop(_ body: @escaping @Sendable (BusService) -> Void) {
        loop?.perform { body(self) }
    }

    func store(of domain: String, arguments: [String]) -> Store {
        let (store, isNew) = lock.withLock {
            let (store, new) = table.store(of: domain, service: self, arguments: arguments)
            unfollowed += new
            return (store, !new.isEmpty)
        }
        if isNew { onLoop { $0.followNewDomains() } }
        return store
    }

    func send(from copy: DomainCopy) {
        onLoop { $0.sendNext(of: copy) }
    }

    /// Notes how it is with the service, and lets those go on who wait in vain.
    func enter(_ new: DefaultsState) {
        lock.withLock {
            if case .unreachable = new {
                // Who knows of a change that is not here waits on: the bus may come back in time.
                for copy in table.copies.values where isSilent || !copy.isOutdated {
                    copy.endWaits(lock)
                }
            } else {
                isSilent = false
            }
            guard state != new else { return }
            state = new
            lock.whenFree { [states] in states.tell(new) }
        }
    }

    /// Notes that somebody has waited in vain: nobody else is to wait until there is an answer.
    func noteSilence() {
        lock.withLock { isSilent = true }
        enter(.unreachable(ClientError.noAnswer(after: Self.patience).message))
    }

    /// Whether the service is known not to be reachable; under the lock.
    var isUnreachable: Bool {
        if case .unreachable = state { true } else { false }
    }

    /// Whether to wait for the service; under the lock.
    ///
    /// Also where this process does not reach it, if the page tells of changes: others do.
    func mayAnswer(_ copies: [DomainCopy]) -> Bool {
        guard isUnreachable else { return true }
        return !isSilent && copies.contains(where: \.isOutdated)
    }
}

// MARK: The connection, on the loop's thread

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
    private func followNewDomains() {
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

// MARK: Losses, on the loop's thread

extension BusService {
    /// Notes that the service answers.
    func noteAnswer() {
        losses = 0
        retryDelay = Self.firstRetry
    }

    /// Does what is right when a call was lost, whose outcome nobody knows.
    func lost(_ error: any Error, _ attachment: Int) {
        guard attachment == self.attachment, connection != nil else { return }
        losses += 1
        if (error as? DBusError)?.name == .serviceUnknown {
            // The bus tells when there is somebody.
            enter(.unreachable("Nobody serves \(Contract.busName) on the bus."))
        } else if losses <= Self.mostLosses {
            askAgain()
        } else {
            enter(.unreachable("\(error)"))
            retryLater()
        }
    }

    /// Asks for what is not current, and sends what waits to be sent.
    ///
    /// Where the service is unreachable something is asked in any case, or its answer would be missed.
    private func askAgain() {
        let (copies, stale) = lock.reading {
            let copies = Array(table.copies.values)
            let stale = copies.filter { !$0.isCurrent }
            return (copies, stale.isEmpty && isUnreachable ? Array(copies.prefix(1)) : stale)
        }
        attach(stale)
        for copy in copies { sendNext(of: copy) }
    }

    /// Tries again later, and later still the next time.
    private func retryLater() {
        guard let loop, retryTimer == nil else { return }
        retryTimer = loop.schedule(after: retryDelay) { [weak self] in
            guard let self else { return }
            retryTimer = nil
            if connection == nil { connect() } else { askAgain() }
        }
        retryDelay = min(retryDelay * 2, Self.lastRetry)
    }
}
