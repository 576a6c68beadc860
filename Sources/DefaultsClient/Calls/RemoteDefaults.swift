package import DBus
import DefaultsProtocol
public import KeyedArchive
package import SystemCalls

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

/// What one layer says of a key.
public struct LayerEntry: Sendable, Hashable {
    /// The layer.
    public let layer: DefaultsLayer
    /// The file that it is from; empty where it is the user's own.
    public let source: String
    /// Whether the layer has the key locked.
    public let isLocked: Bool
    /// The size of the archive in bytes; 0 where the layer locks the key and has no value.
    public let size: UInt64

    /// Whether the layer has a value.
    public var hasValue: Bool { size > 0 }
}

/// What holds for an application, by the search list of layers.
extension RemoteDefaults {
    /// The archive that holds for a key, and the layer that has it.
    ///
    /// ```swift
    /// let (archive, layer) = try await defaults.lookUp("Theme", in: "org.example.App")
    /// if layer == .managed { show(archive) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - domain: A domain, without a suffix.
    /// - Throws: An error of the code ``ClientError/Code/notFound`` if no layer has the key.
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
    /// The value that holds is that of the first that has one. A layer's value is had by
    /// ``archive(forKey:in:)`` of ``DefaultsLayer/domain(of:)``.
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

    /// All that holds for an application: each key of its search list, with the value of the strongest
    /// layer that has it.
    ///
    /// The layers are read one after the other; what changes meanwhile is as it was, or as it is then.
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
