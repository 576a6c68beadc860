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
        let (bytes, generation) = try await call(Contract.get) {
            try $0.writeString(domain)
            try $0.writeString(key)
        } read: {
            (try $0.readBytes(), try $0.readUInt64())
        }
        return (try KeyedArchive(validating: bytes), generation)
    }

    /// Stores an archive, and gives the generation of the change.
    @discardableResult
    public func set(
        _ archive: KeyedArchive, forKey key: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.set) {
            try $0.writeString(domain)
            try $0.writeString(key)
            try $0.writeBytes(archive.bytes)
        } read: {
            try $0.readUInt64()
        }
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
        try await call(Contract.remove) {
            try $0.writeString(domain)
            try $0.writeString(key)
        } read: {
            try $0.readUInt64()
        }
    }

    /// The domains that have keys.
    public func domains() async throws -> [String] {
        try await call(Contract.listDomains) { _ in
        } read: {
            try $0.readStrings()
        }
    }

    /// The keys of a domain; none for a domain that is not there.
    public func keys(in domain: String) async throws -> [String] {
        try await call(Contract.listKeys) {
            try $0.writeString(domain)
        } read: {
            try $0.readStrings()
        }
    }

    /// Waits until every change acknowledged so far is on disk, and gives the durable generation.
    @discardableResult
    public func synchronize() async throws -> UInt64 {
        // No shorter bound than the service's own: a slow disk is not a lost reply.
        try await call(Contract.synchronize, timeout: .seconds(300)) { _ in
        } read: {
            try $0.readUInt64()
        }
    }

    func call<Result: Sendable>(
        _ method: MethodDeclaration, of interface: InterfaceName = Contract.interface,
        timeout: Duration = .seconds(25),
        write: @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Result
    ) async throws -> Result {
        try await reachingService {
            try await connection.call(
                Contract.busName, Contract.objectPath, interface, method.name,
                timeout: timeout, replying: method.outputSignature, write: write, read: read)
        }
    }

    /// Makes a call, and gives the contract's errors as such.
    func reachingService<Result>(_ call: () async throws -> Result) async throws -> Result {
        do {
            return try await call()
        } catch let error as DBusError {
            throw DefaultsError(error) ?? error
        }
    }
}
