package import DBus
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
/// The message of every error says what is wrong. ``ClientError/init(_:)`` gives the error of a call
/// its ``ClientError/Code``.
public struct RemoteDefaults: Sendable {
    /// The connection to the bus that the calls go over.
    package let connection: Connection

    /// The loop that ends with the connection; nil where it is the caller's.
    private let ownLoop: EventLoop?

    /// Connects to a bus, the user's session bus unless told otherwise.
    ///
    /// - Parameter bus: Where the bus is.
    public static func connect(to bus: BusAddress = .session) async throws -> RemoteDefaults {
        let loop = try EventLoop.startThread(named: "defaults-bus")
        do {
            let connection = try await Connection.open(bus.address, on: loop)
            return RemoteDefaults(connection: connection, ownLoop: loop)
        } catch {
            loop.stop()
            throw error
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
        RemoteDefaults(over: try await Connection.open(calling: socket, on: loop))
    }

    /// Makes calls over a connection that there is already, and that stays its maker's to close.
    package init(over connection: Connection) {
        self.init(connection: connection, ownLoop: nil)
    }

    private init(connection: Connection, ownLoop: EventLoop?) {
        self.connection = connection
        self.ownLoop = ownLoop
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
    /// - Throws: An error of the code ``ClientError/Code/conflict`` if the key has changed or has gone.
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
