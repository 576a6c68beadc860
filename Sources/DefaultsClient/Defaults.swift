import DefaultsTerms
import KeyedArchive
import Synchronization

/// The defaults of one application, read and written with typed keys.
///
/// ```swift
/// extension AnyDefaultsKey {
///     static let playSound = DefaultsKey("PlaySound", default: true)
/// }
///
/// let defaults = Defaults(domain: "org.example.Game")
/// if defaults[.playSound] { beep() }
/// defaults[.playSound] = false
/// ```
///
/// A read looks into the memory of this process as long as nobody has changed the domain. It is never
/// older than the last change that was acknowledged to any process. A write takes effect in this
/// process at once, and is sent in the background. Without a service, reads return registered values
/// and what was set here, and changes are sent when the service comes; see ``state``.
///
/// Making `Defaults` costs little. All `Defaults` of a domain share the same values, and all threads
/// may use them.
public struct Defaults: Sendable {
    @usableFromInline let store: Store

    /// Makes the defaults of a domain.
    ///
    /// This does not wait. The first read waits for the service, for two seconds at most.
    ///
    /// - Parameters:
    ///   - domain: An application ID such as `org.example.Game`, or `NSGlobalDomain`. The service refuses
    ///     changes of a domain with an invalid name, and ``failures`` reports that.
    ///   - bus: The bus; by default the user's session bus.
    ///   - arguments: The command line, in which `-PlaySound NO` sets a key for this run of the
    ///     program. The first `Defaults` of a domain determine it.
    public init(
        domain: String, on bus: DefaultsBus = .session, arguments: [String] = CommandLine.arguments
    ) {
        // A forked process gets only the defaults of keys.
        let service: any Service = Fork.isChild ? MemoryService() : BusService.at(bus.address)
        self.init(store: service.store(of: domain, arguments: arguments))
    }

    init(store: Store) {
        self.store = store
    }

    /// The name of the domain.
    public var domain: String { store.name }

    /// Makes defaults in the memory of this process, for tests.
    ///
    /// They work like others, but nothing is stored, and no other process sees the values.
    ///
    /// ```swift
    /// let defaults = Defaults.inMemory(domain: "org.example.Game")
    /// defaults[.playSound] = false
    /// #expect(!Game(defaults: defaults).makesNoise)
    /// ```
    ///
    /// Each call makes new, independent defaults.
    ///
    /// - Parameters:
    ///   - domain: The name of the domain.
    ///   - arguments: The command line, the name of the program first.
    ///   - managed: Sets values that an administrator prescribes.
    ///   - system: Sets values that an administrator recommends, or a vendor ships.
    ///   - locked: Keys that are locked without a value, and prefixes of keys with a `*` after them.
    public static func inMemory(
        domain: String = "org.example.Test", arguments: [String] = [],
        managed: (inout DefaultsEdits) -> Void = { _ in },
        system: (inout DefaultsEdits) -> Void = { _ in }, locked: [String] = []
    ) -> Defaults {
        let service = MemoryService()
        let store = service.store(of: domain, arguments: arguments)
        func provide(
            _ layer: LayerName, locks: [String] = [], _ build: (inout DefaultsEdits) -> Void
        ) {
            var edits = DefaultsEdits(Defaults(store: store))
            build(&edits)
            service.provide(
                edits.entries.compactMapValues { $0 }, in: domain, layer: layer, locks: locks)
        }
        provide(.managed, locks: locked, managed)
        provide(.system, system)
        return Defaults(store: store)
    }

    // MARK: The application's own

    private static let chosen = Mutex<Defaults?>(nil)

    /// The application's own defaults, which property wrappers use by default.
    ///
    /// An application sets them once, at the beginning of `main`:
    ///
    /// ```swift
    /// Defaults.standard = Defaults(domain: "org.example.Game")
    /// ```
    ///
    /// Otherwise the domain is the ID of the Flatpak that the program runs in, or else the name of the
    /// program's file.
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
    /// The value of a key: that of the strongest layer that has one, or the key's default.
    ///
    /// Setting it sets the user's own value. The new value is in effect at once, unless the
    /// administrator prescribes another. It is sent to the service in the background. If it is refused,
    /// the key has its old value again, and ``failures`` reports that.
    ///
    /// A read of a value that is not of the key's type returns the key's default, and ``failures``
    /// reports that.
    @inlinable
    public subscript<Value>(key: DefaultsKey<Value>) -> Value {
        get {
            // The value is of the key's type: the store has compared the classes.
            if let held = store.held(key) {
                return unsafeDowncast(held, to: Decoded<Value>.self).value
            }
            return store.value(of: key)
        }
        nonmutating set { store.set(newValue, for: key) }
    }

    /// The value of a key, as the subscript returns it, or the error that the subscript hides.
    ///
    /// - Throws: ``DefaultsError`` with `unreachable` if a large value cannot be fetched, and with
    ///   `forked` in a forked process; `DecodingError`, and what the type's `init(from:)` throws, if
    ///   the value is not of the key's type.
    public func value<Value>(of key: DefaultsKey<Value>) throws -> Value {
        try store.readValue(of: key)
    }

    /// The value of a key in one layer; nil if the layer has none.
    ///
    /// - Throws: The errors of ``value(of:)``.
    public func value<Value>(of key: DefaultsKey<Value>, in layer: DefaultsLayer) throws -> Value? {
        try store.readValue(of: key, in: layer)
    }

    /// Whether a layer has a value for a key; by default whether the user has set it.
    public func isSet(_ key: AnyDefaultsKey, in layer: DefaultsLayer = .domain) -> Bool {
        !Fork.isChild && store.find(key.id, in: layer).entry != nil
    }

    /// The layer that the value of a key comes from; nil if it is the key's default.
    public func layer(of key: AnyDefaultsKey) -> DefaultsLayer? {
        Fork.isChild ? nil : store.find(key.id).layer
    }

    /// Whether the administrator has locked a key, so that changes of it are refused.
    ///
    /// If the service cannot be asked, the result is false.
    public func isLocked(_ key: AnyDefaultsKey) -> Bool {
        !Fork.isChild && store.isLocked(key.id)
    }

    /// The names of the keys that have values.
    ///
    /// - Parameter layer: The layer; nil for all layers except the command line.
    /// - Returns: The names, sorted by code point.
    public func keys(in layer: DefaultsLayer? = nil) -> [String] {
        guard !Fork.isChild else { return [] }
        return store.names(in: layer).sorted().map(\.string)
    }
}
