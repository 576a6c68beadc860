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
    /// Those who wait for the first answer of the service.
    private var waitingForState: [() -> Void] = []

    // The loop's thread alone.
    var connection: Connection?
    var attachment = 0
    var isConfined = false
    var mapped: CounterPage?
    var retryDelay = BusService.firstRetry
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
        let (store, isNew) = lock.withLock {
            let (store, new) = table.store(of: domain, service: self, arguments: arguments)
            return (store, !new.isEmpty)
        }
        if isNew { onLoop { $0.followNewDomains() } }
        return store
    }

    func makeCurrent(_ copies: [DomainCopy]) {
        // Here nobody else would read the answer.
        guard let loop, !loop.isCurrent else { return }
        let answer = Latch()
        let mustWait = lock.withLock {
            if case .unreachable = state { return false }
            if state == .connecting {
                waitingForState.append(answer.open)
            } else {
                let stale = copies.filter { !$0.isCurrent }
                guard let last = stale.last else { return false }
                last.waiting.append(answer.open)
            }
            return true
        }
        guard mustWait else { return }
        onLoop { $0.refresh(copies) }
        answer.wait(atMost: Self.patience)
    }

    func send(from copy: DomainCopy) {
        onLoop { $0.sendNext(of: copy) }
    }

    // MARK: The state

    /// Notes how it is with the service, and lets those go on who wait to know it.
    func enter(_ new: DefaultsState) {
        lock.withLock {
            guard state != new else { return }
            state = new
            lock.whenFree { [states] in states.tell(new) }
            guard new != .connecting else { return }
            for waiter in waitingForState { lock.whenFree(waiter) }
            waitingForState = []
            if case .unreachable = new { endWaits() }
        }
    }

    /// Lets those go on who wait for copies that cannot be read now; under the lock.
    private func endWaits() {
        for copy in table.copies.values { endWaits(for: copy) }
    }

    func endWaits(for copy: DomainCopy) {
        for waiter in copy.waiting { lock.whenFree(waiter) }
        copy.waiting = []
    }
}
