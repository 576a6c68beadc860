public import DBus
import DefaultsProtocol
public import KeyedArchive

/// The calls of the D-Bus contract, typed, as a client makes them.
///
/// Each call is one round trip to the daemon, which the bus starts where it is not running.
///
/// ```swift
/// let defaults = try await RemoteDefaults.connect()
/// try await defaults.set(archive, forKey: "PlaySound", in: "org.example.Game")
/// ```
///
/// Every call throws `DefaultsError` where the service refuses, and `DBusError` where the bus
/// or the service cannot be reached.
public struct RemoteDefaults: Sendable {
    /// The connection to the bus that the calls go over.
    public let connection: Connection

    /// The loop that ends with the connection; nil where it is the caller's.
    private let ownLoop: EventLoop?

    /// Connects to a bus, the user's session bus unless told otherwise.
    ///
    /// - Parameters:
    ///   - bus: Where the bus is.
    ///   - loop: The loop of the connection, which the caller runs; nil for one on a thread of its own.
    public static func connect(
        to bus: Address = .session, on loop: EventLoop? = nil
    ) async throws -> RemoteDefaults {
        try await connect(on: loop) { try await Connection.open(bus, on: $0) }
    }

    /// Connects to the daemon at the other end of a socket, which serves nobody else.
    ///
    /// - Parameters:
    ///   - socket: The other end of the socket that `defaultsd --peer` was given.
    ///   - loop: The loop of the connection, which the caller runs; nil for one on a thread of its own.
    public static func connect(
        toPeerAt socket: FileDescriptor, on loop: EventLoop? = nil
    ) async throws -> RemoteDefaults {
        try await connect(on: loop) { try await Connection.open(calling: socket, on: $0) }
    }

    /// Makes calls over a connection that there is already, and that stays its maker's to close.
    package init(over connection: Connection) {
        self.init(connection: connection, ownLoop: nil)
    }

    private init(connection: Connection, ownLoop: EventLoop?) {
        self.connection = connection
        self.ownLoop = ownLoop
    }

    private static func connect(
        on loop: EventLoop?, by open: (EventLoop) async throws -> Connection
    ) async throws -> RemoteDefaults {
        if let loop { return RemoteDefaults(connection: try await open(loop), ownLoop: nil) }
        let ownLoop = try EventLoop.startThread(named: "defaults-bus")
        do {
            return RemoteDefaults(connection: try await open(ownLoop), ownLoop: ownLoop)
        } catch {
            ownLoop.stop()
            throw error
        }
    }

    /// Closes the connection, and ends its thread where it has one of its own.
    public func close() async {
        await connection.close()
        ownLoop?.stop()
    }

    /// The archive of a key, and the generation of its last change.
    public func archive(
        forKey key: String, in domain: String
    ) async throws -> (archive: KeyedArchive, generation: UInt64) {
        let (bytes, generation) = try await call(Contract.Get.self, (domain, key))
        return (try KeyedArchive(validating: bytes), generation)
    }

    /// Stores an archive, and gives the generation of the change.
    @discardableResult
    public func set(
        _ archive: KeyedArchive, forKey key: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.Set.self, (domain, key, archive.bytes))
    }

    /// Stores an archive where the key has not changed since a generation, and gives the generation
    /// of the change.
    ///
    /// - Parameters:
    ///   - archive: What to store.
    ///   - key: The key.
    ///   - domain: The domain, with the suffix of a layer.
    ///   - generation: The one that the key's archive was read with; 0 where the key must not be there.
    /// - Throws: `DefaultsError` with `conflict` where the key has changed or has gone.
    @discardableResult
    public func set(
        _ archive: KeyedArchive, forKey key: String, in domain: String, ifStillAt generation: UInt64
    ) async throws -> UInt64 {
        var transaction = DefaultsTransaction()
        transaction.set(key, to: archive)
        transaction.expected[key] = generation
        return try await apply(transaction, in: domain)
    }

    /// Removes a key, and gives the generation of the change.
    ///
    /// A key that is not there is no error, and its removal no change.
    @discardableResult
    public func remove(_ key: String, in domain: String) async throws -> UInt64 {
        try await call(Contract.Remove.self, (domain, key))
    }

    /// The domains that have keys.
    public func domains() async throws -> [String] {
        try await call(Contract.ListDomains.self, ())
    }

    /// The keys of a domain; none for a domain that is not there.
    public func keys(in domain: String) async throws -> [String] {
        try await call(Contract.ListKeys.self, domain)
    }

    /// Waits until every change acknowledged so far is on disk, and gives the durable generation.
    @discardableResult
    public func synchronize() async throws -> UInt64 {
        // No shorter bound than the service's own: a slow disk is not a lost reply.
        try await call(Contract.Synchronize.self, (), timeout: .seconds(300))
    }

    func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, timeout: Duration = .seconds(25)
    ) async throws -> C.Reply {
        try await connection.call(call, arguments, timeout: timeout)
    }
}
