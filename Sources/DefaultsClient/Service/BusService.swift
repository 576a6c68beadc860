import DBus
import DefaultsProtocol
import Synchronization

// Invariants
//
// 1. One thread, the loop's, talks with the bus; whoever else wants something hands it over. Nothing
//    of the application runs there but what is told of changes at once.
// 2. The lock is held for moments only, never while something is waited for.
// 3. No wait is without a bound.
// 4. What comes from a daemon that is not the one of now changes no copy: each attachment has a number.

/// The daemon at a bus, as one process reaches it.
///
/// There is one for each bus, on a thread of its own. What the loop's thread alone uses is marked so;
/// all else is used under the lock (`@unchecked Sendable`).
final class BusService: Service, @unchecked Sendable {
    let lock = Guard()
    let states = Broadcast<DefaultsState>()
    let bus: Address
    /// Nil where the process has no thread or descriptor to spare.
    let loop: EventLoop?

    // Under the lock.
    private(set) var table = StoreTable()
    private(set) var state = DefaultsState.connecting
    /// Whether a read has waited for an answer in vain, and none has come since.
    private var isSilent = false

    // The loop's thread alone.
    var connection: Connection?
    var attachment = 0
    var isConfined = false
    var mapped: CounterPage?
    var retryDelay = BusService.firstRetry
    var nextRetry: EventLoop.Timer?
    /// Whether the last call was lost: with a daemon that has ended, perhaps.
    var hasFailed = false
    /// The domains whose changes the connection is told of.
    var followed: Set<String> = []

    /// How long a read waits for the service.
    static let patience = Duration.seconds(2)
    /// How long until a bus that is not there is tried again, at first and at last.
    static let firstRetry = Duration.milliseconds(100)
    static let lastRetry = Duration.seconds(30)

    // MARK: One for each bus

    private static let services = Mutex<[Address: BusService]>([:])

    /// The service at a bus. Not in a forked process, where its locks may be held for ever.
    static func at(_ bus: Address) -> BusService {
        Fork.watch()
        return services.withLock { services in
            if let service = services[bus] { return service }
            let service = BusService(bus)
            services[bus] = service
            AtExit.send { service.flushAtExit() }
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

    // MARK: What stores ask for

    func store(of domain: String, arguments: [String]) -> Store {
        let (store, new) = lock.withLock {
            let (store, new) = table.store(of: domain, service: self, arguments: arguments)
            return (store, new)
        }
        if !new.isEmpty { onLoop { $0.begin(new) } }
        return store
    }

    func makeCurrent(_ copies: [DomainCopy]) {
        // Here nobody else would read the answer.
        guard let loop, !loop.isCurrent else { return }
        let latches = lock.withLock {
            mayAnswer(copies) ? copies.filter { !$0.isCurrent }.map(waitForAnswer) : []
        }
        guard !latches.isEmpty else { return }
        onLoop { $0.refresh(copies) }
        let clock = ContinuousClock()
        let end = clock.now + Self.patience
        for latch in latches {
            guard latch.wait(atMost: end - clock.now) else { return noteSilence() }
        }
    }

    /// Whether it is worthwhile to wait for the service; under the lock.
    private func mayAnswer(_ copies: [DomainCopy]) -> Bool {
        guard case .unreachable = state else { return true }
        return !isSilent && copies.contains(where: \.isOutdated)
    }

    private func waitForAnswer(about copy: DomainCopy) -> Latch {
        let latch = Latch()
        copy.waiting.append(latch.open)
        return latch
    }

    /// Sees to it that no other read waits in vain.
    private func noteSilence() {
        lock.withLock { isSilent = true }
        enter(.unreachable(ClientError.noAnswer(after: Self.patience).message))
    }

    func send(from copy: DomainCopy) {
        onLoop { $0.sendNext(of: copy) }
    }

    // MARK: The state

    /// Notes how it is with the service, and lets those go on who would wait for it in vain.
    func enter(_ new: DefaultsState) {
        lock.withLock {
            if case .unreachable = new { endWaits() } else { isSilent = false }
            guard state != new else { return }
            state = new
            lock.whenFree { [states] in states.tell(new) }
        }
    }

    /// Lets those go on who wait for copies that cannot be read now; under the lock.
    private func endWaits() {
        for copy in table.copies.values { end(copy.takeWaiting()) }
    }

    /// Has those who wait go on when the lock is free.
    func end(_ waiters: [() -> Void]) {
        for waiter in waiters { lock.whenFree(waiter) }
    }
}
