import DBus
import DefaultsProtocol
import DefaultsTerms

/// The service whose values stores read and write: the daemon on a bus, or the memory of a test.
///
/// The functions that take no access are called without the lock.
protocol Service: AnyObject, Sendable {
    /// The lock of its copies, and of all that stores and batches keep.
    var lock: ServiceLock { get }
    /// The state of the service now.
    func state(_ access: borrowing ReadAccess) -> DefaultsState
    var states: Broadcast<DefaultsState> { get }
    /// Why no service can come, so that nobody waits for one; nil if one may come.
    func absence(_ access: borrowing ReadAccess) -> String?
    /// The loop that measures the time of waits; nil if there is none.
    var loop: EventLoop? { get }

    /// The store of a domain, the same for all callers.
    func store(of domain: String, arguments: [String]) -> Store
    /// Asks for what has changed in copies, and waits for it for a short time.
    func makeCurrent(_ copies: [DomainCopy])
    /// Begins to connect, if nothing was used before.
    func start()
    /// Asks for what has changed in copies, and does not wait.
    func prefetch(_ copies: [DomainCopy])
    /// Sends the changes that wait in a copy.
    func send(from copy: DomainCopy)
    /// Fetches a large value; nil if it is not there any more.
    ///
    /// - Parameter spelling: The domain with the suffix of the layer.
    func fetch(_ name: KeyName, in spelling: String) throws(DefaultsError) -> [UInt8]?
    /// The value of a key at the service, and its generation; nil and 0 if there is none.
    func read(_ name: KeyName, in spelling: String) async throws -> (
        bytes: [UInt8]?, generation: UInt64
    )
    /// Whether the administrator has locked a key.
    func isLocked(_ name: KeyName, in domain: String) throws(DefaultsError) -> Bool
    /// Waits until all acknowledged changes are on disk, and returns the generation that is on disk.
    func synchronize(within bound: Duration) async throws -> UInt64
    /// Calls a method of the history, of which nothing is kept here.
    ///
    /// - Parameter isChange: Whether it changes something, so that it is called again only if the first call
    ///   was not sent.
    func askHistory<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool, within bound: Duration
    ) async throws -> C.Reply
}

/// The state of the service.
public enum DefaultsState: Sendable, Hashable {
    /// It was not used yet, or it has not answered yet. Reads return registered values and what this process has set.
    case connecting
    /// Reads are as current as the last acknowledged change of any process.
    case current
    /// Reads follow the service's signals with a short delay. The process is sandboxed and may not map
    /// the page of counters.
    case following
    /// No service can be reached, for this reason; for example over ssh, from cron or in a container.
    /// This process runs `defaultsd` for itself while it has something to read or to store.
    ///
    /// Reads are as current as the last acknowledged change of any process, and no change is lost. The
    /// next read sees the changes of other processes, but observers do not get them.
    case privateDaemon(String)
    /// There is no bus or no service, or it does not answer, for this reason. Reads return the last
    /// known values. Changes are kept in memory, and are sent when the service comes back.
    case unreachable(String)
    /// The values are in the memory of this process only.
    case inMemory
}

/// The stores by their domains, one for each.
struct StoreTable: Sendable {
    private var stores: [String: Store] = [:]
    /// Whether copies keep large values, too, because no service has them.
    private let holdsLarge: Bool
    private(set) var copies: [String: DomainCopy] = [:]

    init(holdsLarge: Bool) {
        self.holdsLarge = holdsLarge
    }

    /// Returns the store of a domain, or makes it.
    ///
    /// - Returns: The store, and the copies that are new.
    mutating func store(
        of domain: String, service: any Service, arguments: [String],
        _ access: borrowing WriteAccess
    ) -> (store: Store, new: [DomainCopy]) {
        if let store = stores[domain] { return (store, []) }
        var new: [DomainCopy] = []
        let own = copy(of: domain, &new)
        let global =
            domain == GlobalDomain.name ? nil : copy(of: GlobalDomain.name, &new)
        let store = Store(own, global, of: service, arguments: arguments, access)
        stores[domain] = store
        return (store, new)
    }

    private mutating func copy(of domain: String, _ new: inout [DomainCopy]) -> DomainCopy {
        if let copy = copies[domain] { return copy }
        let copy = DomainCopy(name: domain, holdsLarge: holdsLarge)
        copies[domain] = copy
        new.append(copy)
        return copy
    }
}
