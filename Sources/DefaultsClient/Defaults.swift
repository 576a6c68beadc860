import DefaultsTerms
import KeyedArchive
import Synchronization

/// The defaults of one application: what it reads and writes by typed keys.
///
/// ```swift
/// extension DefaultsKeys {
///     static let playSound = DefaultsKey("PlaySound", default: true)
/// }
///
/// let defaults = Defaults(domain: "org.example.Game")
/// if defaults[.playSound] { beep() }
/// defaults[.playSound] = false
/// ```
///
/// A read is a look into this process's memory as long as nobody has changed the domain, and is never
/// older than the last change that was acknowledged to any process. A write holds for this process at
/// once and is sent in the background. Neither fails where there is no service: then reads are of what
/// is registered and was set here, and the changes are sent when it comes; see ``state``.
///
/// It is a small value that is made in no time: all `Defaults` of a domain are the same, whoever makes
/// them, and may be used by all threads.
public struct Defaults: Sendable {
    @usableFromInline let store: Store

    /// The defaults of a domain.
    ///
    /// Nothing is waited for. The first read waits for the service, for two seconds at most.
    ///
    /// - Parameters:
    ///   - domain: An application ID such as `org.example.Game`, or `NSGlobalDomain`. What is no name
    ///     of a domain is refused by the service; ``failures`` tells.
    ///   - bus: The bus, the user's session bus unless told otherwise.
    ///   - arguments: The command line, of which `-PlaySound NO` sets a key for this run of the
    ///     program. That of the first who asks for the domain counts.
    public init(
        domain: String, on bus: BusAddress = .session, arguments: [String] = CommandLine.arguments
    ) {
        // Of a forked process nothing is asked but the defaults of keys.
        let service: any Service = Fork.isChild ? MemoryService() : BusService.at(bus.address)
        self.init(store: service.store(of: domain, arguments: arguments))
    }

    init(store: Store) {
        self.store = store
    }

    /// The name of the domain.
    public var domain: String { store.name }

    /// Defaults in the memory of this process, for tests: the same in everything but that nothing is
    /// kept and no other process sees it.
    ///
    /// ```swift
    /// let defaults = Defaults.inMemory(domain: "org.example.Game")
    /// defaults[.playSound] = false
    /// #expect(!Game(defaults: defaults).makesNoise)
    /// ```
    ///
    /// Each call makes new ones.
    ///
    /// - Parameters:
    ///   - domain: The name of the domain.
    ///   - arguments: The command line, the name of the program first.
    ///   - managed: What an administrator prescribes.
    ///   - system: What an administrator recommends, or a vendor ships.
    ///   - locked: Keys that are locked without a value, and prefixes with a `*` after them.
    public static func inMemory(
        domain: String = "org.example.Test", arguments: [String] = [],
        managed: (inout DefaultsChanges) -> Void = { _ in },
        system: (inout DefaultsChanges) -> Void = { _ in }, locked: [String] = []
    ) -> Defaults {
        let service = MemoryService()
        let store = service.store(of: domain, arguments: arguments)
        func provide(
            _ layer: LayerName, locks: [String] = [], _ build: (inout DefaultsChanges) -> Void
        ) {
            var changes = DefaultsChanges(Defaults(store: store))
            build(&changes)
            service.provide(
                changes.entries.compactMapValues { $0 }, in: domain, layer: layer, locks: locks)
        }
        provide(.managed, locks: locked, managed)
        provide(.system, system)
        return Defaults(store: store)
    }

    // MARK: The application's own

    private static let chosen = Mutex<Defaults?>(nil)

    /// The application's defaults, which property wrappers use where they are told no others.
    ///
    /// An application says once, at the beginning of `main`, which they are:
    ///
    /// ```swift
    /// Defaults.standard = Defaults(domain: "org.example.Game")
    /// ```
    ///
    /// Where it does not, the domain has the ID of the Flatpak that the program runs in, and otherwise
    /// the name of the program's file.
    public static var standard: Defaults {
        get {
            if let chosen = chosen.withLock({ $0 }) { return chosen }
            let guess = Defaults(domain: ProgramIdentity.domain)
            return chosen.withLock { chosen in
                if chosen == nil { chosen = guess }
                return chosen ?? guess
            }
        }
        set { chosen.withLock { $0 = newValue } }
    }
}

/// Reading.
extension Defaults {
    /// What holds for a key: the value of the strongest layer that has one, or the key's default.
    ///
    /// Setting it sets the user's own value, which holds at once where the administrator prescribes no
    /// other. It is sent to the service in the background; what is refused goes back to what it was,
    /// and ``failures`` tells of it.
    @inlinable
    public subscript<Value>(key: DefaultsKey<Value>) -> Value {
        get {
            // What is held under the key is of its type: the store has compared the classes.
            if let held = store.held(key) {
                return unsafeDowncast(held, to: Decoded<Value>.self).value
            }
            return store.value(of: key)
        }
        nonmutating set { store.set(newValue, for: key) }
    }

    /// What holds for a key, or why that cannot be told.
    ///
    /// - Throws: ``ClientError`` with `unreachable` where a large value cannot be fetched, and with
    ///   `forked` in a forked process; `DecodingError` and whatever the type's own `init(from:)` throws
    ///   where the value is none of the key's type.
    public func value<Value>(of key: DefaultsKey<Value>) throws -> Value {
        try store.readValue(of: key)
    }

    /// What one layer has for a key; nil where it has nothing.
    ///
    /// - Throws: As ``value(of:)``.
    public func value<Value>(of key: DefaultsKey<Value>, in layer: DefaultsLayer) throws -> Value? {
        try store.readValue(of: key, in: layer)
    }

    /// Whether a layer has a value for a key: the user's own, unless told otherwise.
    public func isSet(_ key: DefaultsKeys, in layer: DefaultsLayer = .domain) -> Bool {
        !Fork.isChild && store.find(key.id, in: layer).entry != nil
    }

    /// Where the value of a key comes from; nil where it is the key's own default.
    public func layer(of key: DefaultsKeys) -> DefaultsLayer? {
        Fork.isChild ? nil : store.find(key.id).layer
    }

    /// Whether the administrator has locked a key, so that changes of it are refused.
    ///
    /// Where nobody can be asked it is not.
    public func isLocked(_ key: DefaultsKeys) -> Bool {
        !Fork.isChild && store.isLocked(key.id)
    }

    /// The names of the keys that a layer has, or that any layer of the service has or is registered.
    ///
    /// - Returns: The names, sorted by code point.
    public func keys(in layer: DefaultsLayer? = nil) -> [String] {
        guard !Fork.isChild else { return [] }
        return store.names(in: layer).sorted().map(\.string)
    }
}
