import DBus
import DefaultsTerms
import Glibc
import Synchronization

/// Who has the defaults that stores look into: the daemon at a bus, or the memory of a test.
///
/// Its copies, and all that stores and batches keep, are used under its one lock.
protocol Service: AnyObject, Sendable {
    var lock: Guard { get }
    /// How it is with the service now; under the lock.
    var state: DefaultsState { get }
    var states: Broadcast<DefaultsState> { get }
    /// What measures the time of waits; nil where there is none.
    var loop: EventLoop? { get }

    /// The store of a domain, the same for all who ask.
    func store(of domain: String, arguments: [String]) -> Store
    /// Asks for what has changed in copies, and waits for it, though not for long.
    ///
    /// Not under the lock.
    func makeCurrent(_ copies: [DomainCopy])
    /// Sends what a copy has to be sent. Not under the lock.
    func send(from copy: DomainCopy)
    /// Fetches a large value, nil where it is not there any more. Not under the lock.
    ///
    /// - Parameter spelling: The domain with the suffix of the layer.
    func fetch(_ name: KeyName, in spelling: String) throws -> [UInt8]?
    /// The value of a key at the service, and its generation; nil and 0 where there is none.
    func read(_ name: KeyName, in spelling: String) async throws -> (
        bytes: [UInt8]?, generation: UInt64
    )
    /// Whether the administrator has locked a key.
    func isLocked(_ name: KeyName, in domain: String) throws -> Bool
    /// Waits until what was acknowledged is on disk, and gives the generation that is.
    func synchronize(within bound: Duration) async throws -> UInt64
}

/// How it is with the service that a store belongs to.
public enum DefaultsState: Sendable, Hashable {
    /// It has not answered yet. What is read is what is registered, and what this process has set.
    case connecting
    /// Reads are as new as the last acknowledged change of any process.
    case current
    /// Reads follow the service's signals, a moment later: the process is confined, and may not map
    /// the page of counters.
    case following
    /// No service is reached, for this reason, as in a shell over ssh, a job of cron or a container. This
    /// process runs `defaultsd` for itself while it has something to ask or to store.
    ///
    /// Reads are as new as the last acknowledged change of any process, and nothing that is set is lost.
    /// The next read sees changes of other processes; they are not announced.
    case privateDaemon(String)
    /// There is no bus, or no service on it, or it does not answer, for this reason. Reads are as it
    /// was told last; changes are kept in memory and sent when it comes back.
    case unreachable(String)
    /// The values are in the memory of this process, and end with it.
    case inMemory
}

/// Stores by their domains, so that there is one of each.
struct StoreTable {
    private var stores: [String: Store] = [:]
    /// Whether copies hold large values, too, for there is nobody to fetch them from.
    private let holdsLarge: Bool
    private(set) var copies: [String: DomainCopy] = [:]

    init(holdsLarge: Bool) {
        self.holdsLarge = holdsLarge
    }

    /// Gives the store of a domain, or makes it.
    ///
    /// - Returns: The store, and the copies that are new.
    mutating func store(
        of domain: String, service: any Service, arguments: [String]
    ) -> (store: Store, new: [DomainCopy]) {
        if let store = stores[domain] { return (store, []) }
        var new: [DomainCopy] = []
        let own = copy(of: domain, &new)
        let global =
            domain == GlobalDomain.name ? nil : copy(of: GlobalDomain.name, &new)
        let store = Store(own, global, of: service, arguments: arguments)
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

/// What a program is called, where it does not say so.
enum ProgramIdentity {
    /// The ID of the Flatpak, or the name of the program's file, with what no domain may have replaced.
    static var domain: String {
        if let id = getenv("FLATPAK_ID").map({ String(cString: $0) }), !id.isEmpty { return id }
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        let allowed = program.utf8.map { byte -> UInt8 in
            let isAllowed =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            return isAllowed ? byte : UInt8(ascii: "-")
        }
        return allowed.isEmpty ? "program" : String(decoding: allowed.prefix(255), as: UTF8.self)
    }
}
