import DBus
import DefaultsProtocol
import Dispatch
import Synchronization

// Invariants
//
// 1. Only the loop's thread talks to the bus; other threads hand their work over to it. Of the
//    application, only the handlers that are called at each change run there.
// 2. The lock is held for moments only, never while something is waited for.
// 3. Every wait has a bound. If the service is unreachable, nothing waits at all.
// 4. A thread that waits for a copy goes on in two cases: a question that was sent after its wait began
//    is answered, or the service turns out to be unreachable.
// 5. The answer to a question of an earlier attachment changes no copy. An attachment ends with the
//    daemon that was asked, and with the connection.

/// The daemon at a bus, as one process reaches it.
///
/// There is one for each bus, on a thread of its own. What the loop's thread alone uses is marked so;
/// all else is used under the lock (`@unchecked Sendable`).
final class BusService: Service, @unchecked Sendable {
    let lock = Guard()
    let states = Broadcast<DefaultsState>()
    let bus: Address
    /// The environment of a private daemon: that of the process when it first used the library.
    let variables: [String]
    /// The private daemons that are about to end.
    let endings = DispatchGroup()
    /// Nil if the process has no thread or descriptor left.
    let loop: EventLoop?

    /// How much has come from the bus: signals, and ends of calls.
    let progress = Atomic<UInt64>(0)

    // Under the lock.
    private(set) var table = StoreTable(holdsLarge: false)
    private(set) var state = DefaultsState.connecting
    /// Whether somebody has waited for an answer in vain, and none has come since.
    private var isSilent = false
    /// Called when the service becomes unreachable while the process exits; under the lock.
    var whenUnreachable: () -> Void = {}
    /// The domains whose signals the bus has not been asked for yet.
    var unfollowed: [DomainCopy] = []

    // The loop's thread alone.
    var connection: Connection?
    /// Whether the connection leads to the bus that the environment, or the application, names.
    var isOnNamedBus = false
    /// The daemon at the other end of the connection, if this process runs one for itself.
    var privateDaemon: HeldDaemon?
    /// Why this process last ran a daemon for itself; nil while a service is reached.
    var privateReason: String?
    /// Whether the service is being searched for.
    var isSearching = false
    /// The unique name of the service; nil while it is not known, and without a bus.
    var owner: BusName?
    /// How many calls wait for their answer.
    var callsInFlight = 0
    /// The number of the attachment; see the invariants.
    var attachment = 0
    /// Whether the service does not let this process have the page.
    var isConfined = false
    /// The page of this attachment.
    var mapped: CounterPage?
    var retryDelay = BusService.firstRetry
    var retryTimer: EventLoop.Timer?
    /// How many rules the bus has for this connection.
    var rules = 0
    /// How many calls were lost, one after the other.
    var losses = 0
    /// How many batches are on their way in this attachment.
    var sent = 0
    /// The copies whose batches wait for others to be answered.
    var queue: ArraySlice<DomainCopy> = []

    /// How many domains are followed one by one.
    ///
    /// If there are more, the bus is asked for the signals of all domains, because it compares each signal
    /// with each rule.
    static let mostRules = 64
    /// How long a thread waits for the service.
    static let patience = Duration.seconds(2)
    /// How often a thread waits that long while something comes from the bus: much else may come before
    /// the answer.
    static let mostWaits = 15
    /// How long a thread waits for a private daemon, which may have to wait for the database.
    private static let privatePatience = Duration.seconds(6)
    /// How long until a bus that is not there is tried again, at first and at last.
    private static let firstRetry = Duration.milliseconds(100)
    private static let lastRetry = Duration.seconds(30)
    /// How long until a service that does not start is tried again.
    private static let repairTime = Duration.seconds(5)
    /// How many lost calls are sent again at once: if a daemon dies, another one follows.
    static let mostLosses = 3

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
        variables = PrivateDaemon.environment()
        do {
            loop = try EventLoop.startThread(named: "defaults")
        } catch {
            loop = nil
            state = .unreachable("\(error)")
        }
        onLoop { $0.connect() }
    }

    /// Notes that the service answers, and how it is reached.
    func enterAnswering() {
        if let privateReason { return enter(.privateDaemon(privateReason)) }
        enter(isConfined || mapped == nil ? .following : .current)
    }

    /// Runs a closure on the loop's thread.
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

    /// Notes the state of the service, and lets threads go on that would wait in vain.
    func enter(_ new: DefaultsState) {
        lock.withLock {
            if case .unreachable = new {
                whenUnreachable()
                // A thread that knows of a change that is not here yet waits on: the bus may come
                // back in time.
                for copy in table.copies.values where isSilent || !copy.isOutdated {
                    copy.questions.answerAll(lock)
                }
            } else {
                isSilent = false
            }
            guard state != new else { return }
            state = new
            lock.whenFree { [states] in states.tell(new) }
        }
    }

    /// Notes that a thread has waited in vain: no other thread waits until there is an answer.
    func noteSilence() {
        lock.withLock { isSilent = true }
        enter(.unreachable(ClientError.noAnswer(after: Self.patience).message))
    }

    /// Whether the service is known not to be reachable; under the lock.
    var isUnreachable: Bool {
        if case .unreachable = state { true } else { false }
    }

    /// How long a thread waits now; under the lock.
    var waitBound: Duration {
        if case .privateDaemon = state { Self.privatePatience } else { Self.patience }
    }

    /// Whether to wait for the service; under the lock.
    ///
    /// Also if this process does not reach it, but the page shows changes: then other processes reach it.
    func mayAnswer(_ copies: [DomainCopy]) -> Bool {
        guard isUnreachable else { return true }
        return !isSilent && copies.contains(where: \.isOutdated)
    }
}

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
