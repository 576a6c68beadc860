import DBus
import DefaultsProtocol
import Dispatch
import Synchronization

// Invariants
//
// 1. Only the loop's thread uses the bus; other threads pass their work to it. Of the application's
//    code, only the handlers of changes run there.
// 2. The lock is held for moments only, and never during a wait.
// 3. Every wait has a limit. If the service is unreachable, nothing waits.
// 4. A thread that waits for a copy continues in two cases: a request that was sent after its wait
//    began is answered, or the service is unreachable.
// 5. The answer to a request of an earlier attachment changes no copy. An attachment ends with the
//    daemon that was asked, and with the connection.

/// The daemon at a bus, as one process reaches it: without the bus if possible.
///
/// There is one for each bus, on a thread of its own. Only the loop's thread uses the variables
/// (`@unchecked Sendable`); what threads share is `shared`.
final class BusService: Service, @unchecked Sendable {
    let lock = ServiceLock()
    let shared = Guarded(Shared())
    let states = Broadcast<DefaultsState>()
    let bus: Address
    /// The environment of a private daemon: that of the process when it first used the library.
    var variables: [String] = []
    /// The private daemons that are about to end.
    let endings = DispatchGroup()
    /// The loop, once it was needed; nil in it if the process has no thread or descriptor left.
    private let started = Mutex<EventLoop??>(nil)

    /// How much has come from the bus: signals, and ends of calls.
    let progress = Atomic<UInt64>(0)
    /// Whether the bus has said that nobody owns the service's name.
    ///
    /// Then it starts the service for a call, and says when that has come or has failed.
    let isWithoutOwner = Atomic<Bool>(false)

    var connection: Connection?
    /// Whether the connection leads to the bus that the environment, or the application, names.
    var isOnNamedBus = false
    /// The way to the daemon without the bus.
    var direct = DirectState.untried
    /// The daemon at the other end of the connection, if this process runs one for itself.
    var privateDaemon: HeldDaemon?
    /// Why this process last ran a daemon for itself; nil while a service is reached.
    var privateReason: String?
    /// Whether the bus is being opened, or the service is being searched for.
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
    /// How many calls in a row were lost.
    var losses = 0
    /// How many batches are in flight in this attachment.
    var sent = 0
    /// The copies whose batches wait for others to be answered, each once.
    var queue: ArraySlice<DomainCopy> = []
    var queuedDomains: Set<String> = []

    /// How many domains are followed one by one.
    ///
    /// If there are more, the bus is asked for the signals of all domains, because it compares each
    /// signal with each rule.
    static let mostRules = 64
    /// How long a thread waits for the service.
    static let patience = Duration.seconds(2)
    /// How often a thread waits that long while messages come from the bus, or while the bus starts the
    /// service: the answer may be behind them.
    static let mostWaits = 15
    /// How long a thread waits for a private daemon, which may have to wait for the database.
    fileprivate static let privatePatience = Duration.seconds(6)
    /// How long until the connection to a missing bus is retried, at first and at most.
    private static let firstRetry = Duration.milliseconds(100)
    private static let lastRetry = Duration.seconds(30)
    /// The same for a service that has no room for an answer.
    private static let lastRetryOfRefused = Duration.seconds(1)
    /// How long until the start of the service is retried.
    private static let repairTime = Duration.seconds(5)
    /// How many lost calls in a row are sent again at once: if a daemon dies, another one follows.
    static let mostLosses = 3

    private static let services = Mutex<[Address: BusService]>([:])

    /// The service at a bus.
    ///
    /// A forked process must not call this, because the locks may be held for ever.
    static func at(_ bus: Address) -> BusService {
        services.withLock { services in
            if let service = services[bus] { return service }
            let service = BusService(bus)
            services[bus] = service
            return service
        }
    }

    private init(_ bus: Address) {
        self.bus = bus
    }

    /// The loop, which the first use of the service starts on a thread of its own; nil if the process
    /// has no thread or descriptor left.
    ///
    /// A process may fork before that.
    var loop: EventLoop? {
        let (loop, isNew) = started.withLock { started in
            if let loop = started { return (loop, false) }
            Fork.watch()
            let loop = startLoop()
            started = .some(loop)
            return (loop, true)
        }
        if isNew { AtExit.call { self.flushAtExit() } }
        return loop
    }

    func start() { _ = loop }

    private var hasStarted: Bool { started.withLock { $0 != nil } }

    private func startLoop() -> EventLoop? {
        do {
            let loop = try EventLoop.startThread(named: "defaults")
            let variables = PrivateDaemon.environment()
            loop.perform {
                self.variables = variables
                self.connect()
            }
            return loop
        } catch {
            let reason = "\(error)"
            lock.change { access in
                access[shared].state = .unreachable(reason)
                access[shared].isAbsent = true
            }
            return nil
        }
    }

    /// Notes that the service answers, and how it is reached.
    func enterAnswering() {
        lock.change { access in access[shared].wasReached = true }
        if let privateReason { return enter(.privateDaemon(privateReason)) }
        enter(isConfined || mapped == nil ? .following : .current)
    }

    /// Runs a closure on the loop's thread.
    func onLoop(_ body: @escaping @Sendable (BusService) -> Void) {
        loop?.perform { body(self) }
    }

    func store(of domain: String, arguments: [String]) -> Store {
        let (store, isNew) = lock.change { access in
            let (store, new) = access[shared].table.store(
                of: domain, service: self, arguments: arguments, access)
            access[shared].unfollowed += new
            return (store, !new.isEmpty)
        }
        // Without a connection, its beginning follows all domains.
        if isNew, hasStarted { onLoop { $0.followNewDomains() } }
        return store
    }

    func send(from copy: DomainCopy) {
        onLoop { service in
            service.lock.change { access in access[copy.state].outbox.endRequest() }
            service.sendNext(of: copy)
        }
    }

    /// Notes the state of the service, and lets threads go on that would wait in vain.
    ///
    /// - Parameter isMissing: Whether none is installed that could be started. If one was reached before, it
    ///   may come back all the same.
    func enter(_ new: DefaultsState, isMissing: Bool = false) {
        lock.change { access in
            access[shared].isAbsent = isMissing && !access[shared].wasReached
            if case .unreachable(let reason) = new {
                access[shared].whenUnreachable()
                releaseWaiters(access)
                if access[shared].isAbsent { endWaits(because: reason, access) }
            } else {
                access[shared].isSilent = false
            }
            guard access[shared].state != new else { return }
            access[shared].state = new
            // Two threads may enter states at once. The last element is the state that holds.
            access.whenFree { self.states.tell(newest: { self.state }) }
        }
    }

    /// Lets waiting threads go on.
    ///
    /// A thread that knows of a change that is not here yet waits on, unless the service is silent: the
    /// bus may come back in time.
    private func releaseWaiters(_ access: borrowing WriteAccess) {
        let isSilent = access[shared].isSilent
        for copy in access[shared].table.copies.values {
            guard isSilent || !access[copy.state].isOutdated else { continue }
            access[copy.state].requests.answerAll(access)
        }
    }

    /// Ends the waits for answers to changes, which are still sent if a service comes.
    private func endWaits(because reason: String, _ access: borrowing WriteAccess) {
        for copy in access[shared].table.copies.values {
            for waiter in access[copy.state].outbox.takeWaiters() {
                access.whenFree { waiter(.failure(DefaultsError.notSent(reason))) }
            }
        }
    }

    /// Notes that a thread has waited in vain: no other thread waits until there is an answer.
    func noteSilence() {
        lock.change { access in access[shared].isSilent = true }
        enter(.unreachable(DefaultsError.noAnswer(after: Self.patience).message))
    }

    func state(_ access: borrowing ReadAccess) -> DefaultsState { access[shared].state }

    func absence(_ access: borrowing ReadAccess) -> String? {
        guard access[shared].isAbsent, case .unreachable(let reason) = access[shared].state else {
            return nil
        }
        return reason
    }

    /// The state of the service now.
    var state: DefaultsState { lock.read { $0[shared].state } }

    /// Whether the service is known not to be reachable.
    var isUnreachable: Bool { lock.read { $0[shared].isUnreachable } }

    /// How long a thread waits now.
    var waitBound: Duration {
        if case .privateDaemon = state { Self.privatePatience } else { Self.patience }
    }

    /// Whether to wait for the service.
    ///
    /// Also if this process does not reach it, but the page shows changes: then other processes reach it.
    func mayAnswer(_ copies: [DomainCopy], _ access: borrowing ReadAccess) -> Bool {
        guard access[shared].isUnreachable else { return true }
        return !access[shared].isSilent && copies.contains { access[$0.state].isOutdated }
    }
}

extension BusService {
    /// What all threads use.
    struct Shared: Sendable {
        fileprivate(set) var table = StoreTable(holdsLarge: false)
        fileprivate(set) var state = DefaultsState.connecting
        /// Whether a service has ever answered this process.
        fileprivate var wasReached = false
        /// Whether no service can come, because none is installed that could be started.
        fileprivate var isAbsent = false
        /// Whether a thread has waited for an answer in vain, and none has come since.
        fileprivate var isSilent = false
        /// Called when the service becomes unreachable while the process exits.
        var whenUnreachable: @Sendable () -> Void = {}
        /// The domains whose signals the bus has not been asked for yet.
        var unfollowed: [DomainCopy] = []

        var isUnreachable: Bool {
            if case .unreachable = state { true } else { false }
        }
    }
}

/// Handling lost calls; on the loop's thread.
extension BusService {
    /// Notes that the service answers.
    func noteAnswer() {
        losses = 0
        retryDelay = Self.firstRetry
    }

    /// Does what is right when a call was lost, whose outcome nobody knows.
    func lost(_ error: any Error, _ attachment: Int) {
        guard attachment == self.attachment, connection != nil else { return }
        // What comes of the end of a daemon at the other end is for `disconnected`.
        let isDirect = privateDaemon != nil || direct.isUsed
        if isDirect, (error as? DBusError)?.name == .disconnected { return }
        if Self.isWithoutOwner(error) { return serviceHasGone() }
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

    /// Looks for another daemon after one has said that it ends, or the bus that there is none.
    func serviceHasGone() {
        guard direct.isUsed else { return searchServiceIfDue() }
        close()
        forgetCalls()
        socketHasClosed()
    }

    /// Searches for the service, unless a timer says when one that does not start is tried again.
    func searchServiceIfDue() {
        if retryTimer == nil { searchService() }
    }

    /// Asks for copies that are not current, and sends the changes that wait.
    ///
    /// If the service is unreachable, something is asked in any case: an answer shows that it is back.
    func askAgain() {
        let (copies, stale) = lock.read { access in
            let copies = Array(access[shared].table.copies.values)
            let stale = copies.filter { !access[$0.state].isCurrent }
            guard stale.isEmpty, access[shared].isUnreachable else { return (copies, stale) }
            return (copies, Array(copies.prefix(1)))
        }
        attach(stale)
        for copy in copies { sendNext(of: copy) }
    }

    /// Retries later, with a longer and longer delay.
    func retryLater() {
        guard let loop, retryTimer == nil else { return }
        retryTimer = loop.schedule(after: retryDelay) { [weak self] in
            guard let self else { return }
            retryTimer = nil
            if connection == nil { connect() } else { askAgain() }
        }
        retryDelay = min(retryDelay * 2, Self.lastRetry)
    }

    /// Retries within a second: the service has had no room for an answer.
    func retrySoon() {
        retryDelay = min(retryDelay, Self.lastRetryOfRefused)
        retryLater()
    }

    /// Retries after some seconds, in which the user can repair the service.
    ///
    /// systemd gives up a unit that is started too often.
    func retryMuchLater() {
        retryDelay = max(retryDelay, Self.repairTime)
        retryLater()
    }
}
