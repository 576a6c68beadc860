package import DBus
import DefaultsProtocol
public import KeyedArchive
import Synchronization
package import SystemCalls

/// The calls of the D-Bus contract, for programs that manage other programs' defaults.
///
/// Applications use ``Defaults`` instead, which reads from memory. Here each call is one round trip to
/// the daemon, and the bus starts the daemon if it is not running.
///
/// ```swift
/// let defaults = try await RemoteDefaults.connect()
/// try await defaults.set(archive, forKey: "PlaySound", in: "org.example.Game")
/// ```
///
/// Every call throws ``DefaultsError``: with the code `unreachable` if there is no answer, and otherwise
/// with the refusal of the daemon. A call that returns archives throws `ArchiveError` if one is
/// damaged.
///
/// A call waits for its answer for 25 seconds at most. Those that read or write a whole domain, or wait for
/// the disk, wait for five minutes, and those of backups for an hour.
public struct RemoteDefaults: Sendable {
    /// The connection that the calls go over.
    package var connection: Connection { successor?.current ?? first }
    private let first: Connection
    /// The connection after the first one, if that is without a bus.
    private let successor: Successor?
    /// The way to the daemon.
    package let route: Route

    /// The loop that ends with the connection; nil if it is the caller's.
    private let ownLoop: EventLoop?

    /// Connects to a bus.
    ///
    /// - Parameter bus: The bus. The default is the user's session bus.
    /// - Throws: ``DefaultsError`` with `unreachable` if there is no bus, or if the process cannot start a
    ///   thread for the connection.
    public static func connect(to bus: DefaultsBus = .session) async throws -> RemoteDefaults {
        let loop: EventLoop
        do {
            loop = try EventLoop.startThread(named: "defaults-bus")
        } catch {
            throw DefaultsError.ofCall(error)
        }
        do {
            let connection = try await Connection.open(bus.address, on: loop)
            return RemoteDefaults(connection: connection, by: .bus, ownLoop: loop)
        } catch {
            loop.stop()
            throw DefaultsError.ofCall(error)
        }
    }

    /// Connects to the daemon at the other end of a socket, which serves nobody else.
    ///
    /// - Parameters:
    ///   - socket: The other end of the socket that `defaultsd --peer` was given.
    ///   - loop: The loop of the connection, which the caller runs.
    package static func connect(
        toPeerAt socket: FileDescriptor, on loop: EventLoop
    ) async throws -> RemoteDefaults {
        let connection = try await Connection.open(calling: socket, on: loop)
        return RemoteDefaults(connection: connection, by: .own, ownLoop: nil)
    }

    /// Connects to the daemon without a bus, if it listens.
    ///
    /// If the daemon ends, the calls that it has not answered are made again over the bus.
    ///
    /// - Parameters:
    ///   - bus: The bus that the daemon must serve.
    ///   - loop: The loop of the connection, which the caller runs.
    /// - Returns: Nil if there is no such daemon, or if it does not let this program in.
    package static func connectDirectly(
        for bus: Address, on loop: EventLoop
    ) async -> RemoteDefaults? {
        guard let connection = await DirectSocket.connect(to: bus, on: loop) else { return nil }
        let successor = Successor(of: bus)
        await connection.whenEnding { successor.isDue.store(true, ordering: .relaxed) }
        return RemoteDefaults(connection: connection, by: .direct(successor), ownLoop: nil)
    }

    /// Makes calls over an existing connection to a bus, which its owner closes.
    package init(over connection: Connection) {
        self.init(connection: connection, by: .bus, ownLoop: nil)
    }

    private init(connection: Connection, by way: Way, ownLoop: EventLoop?) {
        first = connection
        self.ownLoop = ownLoop
        (route, successor) =
            switch way {
            case .bus: (.bus, nil)
            case .own: (.own, nil)
            case .direct(let successor): (.direct, successor)
            }
    }

    private enum Way {
        case bus, own
        case direct(Successor)
    }

    /// The way to the daemon.
    package enum Route: String, Sendable {
        /// Over the bus.
        case bus
        /// By the daemon's own socket.
        case direct
        /// To a daemon that serves this program alone.
        case own
    }

    /// Closes the connection, and ends its thread if it has one of its own.
    public func close() async {
        await first.close()
        await successor?.current?.close()
        ownLoop?.stop()
    }

    /// Reads the archive of a key, and the generation of its last change.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: The domain, with the suffix of a layer.
    /// - Throws: ``DefaultsError`` with `notFound` if there is no such key.
    public func archive(
        forKey key: String, in domain: String
    ) async throws -> (archive: KeyedArchive, generation: UInt64) {
        let (bytes, generation) = try await call(Contract.Get.self, (domain, key))
        return (try KeyedArchive(validating: bytes), generation)
    }

    /// Stores an archive.
    ///
    /// - Parameters:
    ///   - archive: What to store.
    ///   - key: The key.
    ///   - domain: The domain, with the suffix of a layer.
    /// - Returns: The generation of the change.
    /// - Throws: ``DefaultsError``, for example with `locked` or `tooLarge`.
    @discardableResult
    public func set(
        _ archive: KeyedArchive, forKey key: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.Set.self, (domain, key, archive.bytes))
    }

    /// Stores an archive if the key has not changed since a generation.
    ///
    /// - Parameters:
    ///   - archive: What to store.
    ///   - key: The key.
    ///   - domain: The domain, with the suffix of a layer.
    ///   - generation: The generation that ``archive(forKey:in:)`` returned; 0 if the key must not exist.
    /// - Returns: The generation of the change.
    /// - Throws: ``DefaultsError`` with `conflict` if the key has changed or was removed.
    @discardableResult
    public func set(
        _ archive: KeyedArchive, forKey key: String, in domain: String, ifStillAt generation: UInt64
    ) async throws -> UInt64 {
        var transaction = DefaultsTransaction()
        transaction.set(key, to: archive)
        transaction.expected[key] = generation
        return try await apply(transaction, in: domain)
    }

    /// Removes a key.
    ///
    /// If there is no such key, nothing happens.
    ///
    /// - Returns: The generation of the change; that of the last change if there was nothing to remove.
    /// - Throws: ``DefaultsError``, for example with `locked`.
    @discardableResult
    public func remove(_ key: String, in domain: String) async throws -> UInt64 {
        try await call(Contract.Remove.self, (domain, key))
    }

    /// The domains that have keys, with the suffixes of their layers.
    public func domains() async throws -> [String] {
        try await call(Contract.ListDomains.self, ())
    }

    /// The keys of a domain; empty if there is no such domain.
    public func keys(in domain: String) async throws -> [String] {
        try await call(Contract.ListKeys.self, domain)
    }

    /// Waits until every change that was acknowledged so far is on disk.
    ///
    /// - Returns: The generation that is on disk.
    /// - Throws: ``DefaultsError`` with `notDurable` if the disk fails.
    @discardableResult
    public func synchronize() async throws -> UInt64 {
        // As long as the service waits: a slow disk is not a lost reply.
        try await call(Contract.Synchronize.self, (), timeout: .seconds(300))
    }

    func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, timeout: Duration = .seconds(25)
    ) async throws -> C.Reply {
        do {
            return try await connection.call(call, arguments, timeout: timeout)
        } catch {
            guard let successor, let next = await successor.connection(after: error, on: first.loop)
            else { throw DefaultsError.ofCall(error) }
            do {
                return try await next.call(call, arguments, timeout: timeout)
            } catch {
                throw DefaultsError.ofCall(error)
            }
        }
    }
}

/// The connection to the bus that takes the place of one without a bus, when the daemon has ended.
private final class Successor: Sendable {
    private let bus: Address
    /// Whether the daemon has said that it ends.
    let isDue = Atomic(false)
    private let opened = Mutex<Connection?>(nil)

    var current: Connection? { opened.withLock { $0 } }

    init(of bus: Address) {
        self.bus = bus
    }

    /// The connection for a call that was not carried out.
    ///
    /// - Parameter error: Why the first connection has not answered.
    /// - Returns: Nil if the call may have been carried out, or there is no bus.
    func connection(after error: any Error, on loop: EventLoop) async -> Connection? {
        guard current == nil, isDue.load(ordering: .relaxed),
            (error as? DBusError)?.name == .disconnected,
            let new = try? await Connection.open(bus, on: loop)
        else { return nil }
        opened.withLock { $0 = new }
        return new
    }
}

extension Connection {
    fileprivate func whenEnding(_ body: @escaping @Sendable () -> Void) {
        // It fails only if the connection has ended.
        try? onSignal(EndingSignal.rule, isAsked: false) { _ in body() }
    }
}

/// What one layer has for a key.
public struct LayerEntry: Sendable, Hashable {
    /// The layer.
    public let layer: DefaultsLayer
    /// The path of the file that it comes from; empty for the user's own values.
    public let source: String
    /// Whether the layer locks the key.
    public let isLocked: Bool
    /// The size of the archive in bytes; 0 if the layer locks the key without a value.
    public let size: UInt64

    /// Whether the layer has a value.
    public var hasValue: Bool { size > 0 }
}

/// The values that are in effect for an application, by the search list of layers.
extension RemoteDefaults {
    /// Looks a key up in the search list: the archive that is in effect, and the layer that has it.
    ///
    /// ```swift
    /// let (archive, layer) = try await defaults.lookUp("Theme", in: "org.example.App")
    /// if layer == .managed { show(archive) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    /// - Throws: ``DefaultsError`` with `notFound` if no layer has the key.
    public func lookUp(
        _ key: String, in domain: String
    ) async throws -> (archive: KeyedArchive, layer: DefaultsLayer) {
        let (bytes, layer) = try await call(Contract.Lookup.self, (domain, key))
        return (try KeyedArchive(validating: bytes), DefaultsLayer(rawValue: layer))
    }

    /// Whether the administrator has locked a key, so that every write to it is refused.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    public func isLocked(_ key: String, in domain: String) async throws -> Bool {
        try await call(Contract.IsLocked.self, (domain, key))
    }

    /// Every layer that has a key or locks it, the strongest first.
    ///
    /// The first value in the list is in effect. To read the value of a layer, call
    /// ``archive(forKey:in:)`` with the domain that ``DefaultsLayer/domain(of:)`` returns.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    public func explain(_ key: String, in domain: String) async throws -> [LayerEntry] {
        try await call(Contract.Explain.self, (domain, key)).map {
            LayerEntry(
                layer: DefaultsLayer(rawValue: $0.layer), source: $0.source,
                isLocked: $0.isLocked, size: $0.size)
        }
    }

    /// All values that are in effect for an application: each key of its search list, with the value of
    /// the strongest layer that has it.
    ///
    /// The layers are read one after the other. The result may contain the old or the new value of a
    /// key that changes meanwhile.
    ///
    /// - Parameter domain: A domain, without a suffix.
    /// - Returns: The entries in the order of their keys, by code point.
    public func effectiveEntries(in domain: String) async throws -> [DefaultsEntry] {
        var effective: [String: DefaultsEntry] = [:]
        for layer in layers(of: domain) {
            for entry in try await entries(in: layer).entries where effective[entry.key] == nil {
                effective[entry.key] = entry
            }
        }
        return effective.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The keys of ``effectiveEntries(in:)``.
    ///
    /// - Parameter domain: A domain, without a suffix.
    public func effectiveKeys(in domain: String) async throws -> [String] {
        var keys: Set<String> = []
        for layer in layers(of: domain) { keys.formUnion(try await self.keys(in: layer)) }
        return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The domains of the search list, the strongest first.
    private func layers(of domain: String) -> [String] {
        DefaultsLayer.searchList(of: domain).compactMap { $0.domain(of: domain) }
    }
}
