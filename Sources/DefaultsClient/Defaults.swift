import DefaultsTerms
import KeyedArchive
import Synchronization
import SystemCalls

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
/// A read looks into the memory of this process as long as the domain has not changed. It is never
/// older than the last change that was acknowledged to any process. A write takes effect in this
/// process at once, and is sent in the background. Without a service, reads return what was set here,
/// registered values and the keys' defaults, and changes are sent when the service comes; see
/// ``state``.
///
/// Making `Defaults` costs little. All `Defaults` of a domain share the same values, and all threads
/// may use them.
public struct Defaults: Sendable {
    @usableFromInline let store: Store
    /// The part of the program that makes changes by this value.
    @usableFromInline let origin: DefaultsOrigin?

    /// Makes the defaults of a domain.
    ///
    /// This starts nothing. The first use connects to the service on a thread of the library. The first
    /// read waits for the service, for two seconds at most, or for thirty while the bus starts it;
    /// ``load()`` does so without blocking.
    ///
    /// - Parameters:
    ///   - domain: An application ID such as `org.example.Game`, or `NSGlobalDomain`: 1 to 255 of
    ///     `[A-Za-z0-9._-]`, without empty elements. An invalid name is an error of the program, which
    ///     ends it. ``init(validating:on:arguments:)`` takes a name that the program does not know.
    ///   - bus: The bus; by default the user's session bus.
    ///   - arguments: The command line, the name of the program first. `-PlaySound NO` sets a key for
    ///     this run of the program. The word after the key is the value that the key's type can read: a
    ///     text, a boolean such as `YES`, a value in JSON, or an array or a dictionary in the old style,
    ///     such as `(a, b)`. The first `Defaults` of a domain determine the command line.
    public init(
        domain: String, on bus: DefaultsBus = .session, arguments: [String] = CommandLine.arguments
    ) {
        Self.require(domain)
        self.init(checked: domain, on: bus, arguments: arguments)
    }

    /// Makes the defaults of a domain whose name comes from outside of the program.
    ///
    /// - Parameters:
    ///   - domain: The name.
    ///   - bus: The bus; by default the user's session bus.
    ///   - arguments: The command line; see ``init(domain:on:arguments:)``.
    /// - Throws: ``DefaultsError`` with `invalidName`; the message says what is wrong with the name.
    public init(
        validating domain: String, on bus: DefaultsBus = .session,
        arguments: [String] = CommandLine.arguments
    ) throws(DefaultsError) {
        try Self.check(domain)
        self.init(checked: domain, on: bus, arguments: arguments)
    }

    private init(checked domain: String, on bus: DefaultsBus, arguments: [String]) {
        // A forked process gets only the defaults of keys.
        let service: any Service = Fork.isChild ? MemoryService() : BusService.at(bus.address)
        self.init(store: service.store(of: domain, arguments: arguments))
    }

    init(store: Store, origin: DefaultsOrigin? = nil) {
        self.store = store
        self.origin = origin
    }

    /// Ends the program if a name of its own is not that of a domain.
    private static func require(_ domain: String) {
        do {
            try check(domain)
        } catch {
            preconditionFailure(error.message)
        }
    }

    private static func check(_ domain: String) throws(DefaultsError) {
        do throws(DomainRule.Fault) {
            try DomainRule.check(domain.utf8[...])
        } catch {
            throw .badDomain(domain, error)
        }
    }

    /// The same defaults for a part of the program, such as a window.
    ///
    /// The values are the same. The changes that the part makes by the result have the origin, so that it
    /// recognises them; see ``DefaultsOrigin``.
    ///
    /// - Parameter origin: What the changes carry in ``ValueChange/origin``.
    public func from(_ origin: DefaultsOrigin) -> Defaults {
        Defaults(store: store, origin: origin)
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
    ///   - domain: The name of the domain. An invalid name ends the program.
    ///   - arguments: The command line, the name of the program first.
    ///   - managed: Sets values that an administrator prescribes.
    ///   - system: Sets values that an administrator recommends, or a vendor ships.
    ///   - locked: Keys that are locked without a value, and prefixes of keys with a `*` after them.
    ///   - refusal: Why a change of a key is refused, to test what the application does then; nil for a
    ///     key that can be changed. ``failures`` reports it, and calls that wait throw it:
    ///
    ///     ```swift
    ///     let full = DefaultsError(.storageFailed, "The disk is full.")
    ///     let defaults = Defaults.inMemory(failing: { $0 == "Player" ? full : nil })
    ///     ```
    public static func inMemory(
        domain: String = "org.example.Test", arguments: [String] = [],
        managed: (inout DefaultsEdits) -> Void = { _ in },
        system: (inout DefaultsEdits) -> Void = { _ in }, locked: [String] = [],
        failing refusal: @escaping @Sendable (_ key: String) -> DefaultsError? = { _ in nil }
    ) -> Defaults {
        require(domain)
        let service = MemoryService(failing: refusal)
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

    /// The application's own defaults, and whether the application has set them.
    private static let own = Mutex<(defaults: Defaults, isChosen: Bool)?>(nil)

    /// The application's own defaults, which property wrappers use by default.
    ///
    /// An application sets them once, at the beginning of `main`:
    ///
    /// ```swift
    /// Defaults.standard = Defaults(domain: "org.example.Game")
    /// ```
    ///
    /// Otherwise the domain is the ID of the Flatpak that the program runs in, or else the name of the
    /// program's file. If they are set after they were used, those who have used them keep the defaults
    /// of that other domain, and a line on standard error says so.
    public static var standard: Defaults {
        get {
            if let own = own.withLock({ $0?.defaults }) { return own }
            let guess = Defaults(domain: ProgramIdentity.domain)
            return own.withLock { own in
                if own == nil { own = (guess, isChosen: false) }
                return own?.defaults ?? guess
            }
        }
        set {
            let earlier = own.withLock { own in
                defer { own = (newValue, isChosen: true) }
                return own
            }
            guard let earlier, !earlier.isChosen, earlier.defaults.domain != newValue.domain else {
                return
            }
            StandardError.say(
                "Defaults.standard was used before it was set to \(newValue.domain). Until then it had the "
                    + "domain \(earlier.defaults.domain). Set it at the beginning of main.",
                from: "defaults")
        }
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
        nonmutating set { store.set(newValue, for: key, from: origin) }
    }

    /// The value of a key, as the subscript returns it, or the error that the subscript hides.
    ///
    /// The key's default is returned only if no layer has a value.
    ///
    /// - Throws: `undecodable` if the value is not of the key's type; `unreachable` if the service has
    ///   never answered, or if a large value cannot be fetched; `forked` in a forked process.
    public func value<Value>(of key: DefaultsKey<Value>) throws(DefaultsError) -> Value {
        try store.readValue(of: key)
    }

    /// The value of a key in one layer; nil if the layer has none.
    ///
    /// ```swift
    /// let prescribed = try defaults.value(of: .volume, in: .managed)
    /// ```
    ///
    /// For a key of an optional type, the result is an optional of an optional.
    ///
    /// - Throws: The errors of ``value(of:)``.
    public func value<Value>(
        of key: DefaultsKey<Value>, in layer: DefaultsLayer
    ) throws(DefaultsError) -> Value? {
        try store.readValue(of: key, in: layer)
    }

    /// Whether a layer has a value for a key; by default whether the user has set it.
    ///
    /// The value need not be in effect, and need not be of the key's type.
    public func isSet(_ key: AnyDefaultsKey, in layer: DefaultsLayer = .domain) -> Bool {
        !Fork.isChild && store.find(key.id, in: layer).entry != nil
    }

    /// Whether the value of a key is the key's default, or equal to it.
    ///
    /// It does not matter which layer the value comes from: this is true if the user has set the default
    /// itself, and false if the vendor ships another value. ``isSet(_:in:)`` says whether ``reset(_:in:)``
    /// would change something.
    public func isDefaultValue<Value>(_ key: DefaultsKey<Value>) -> Bool {
        layer(of: key) == nil || key.coding.areSame(self[key], key.defaultValue)
    }

    /// Reads the domain, if others have changed something that was not read here yet.
    ///
    /// A program with an event loop awaits it at its start, so that no read blocks that loop. It waits as
    /// long as a read: if the service does not answer in that time, this returns, and ``state`` says why.
    ///
    /// ```swift
    /// await defaults.load()
    /// window.show(volume: defaults[.volume])
    /// ```
    public func load() async {
        await store.load()
    }

    /// The layer that the value of a key comes from; nil if it is the key's default.
    public func layer(of key: AnyDefaultsKey) -> DefaultsLayer? {
        Fork.isChild ? nil : store.find(key.id).layer
    }

    /// Whether the administrator has locked a key, so that changes of it are refused.
    ///
    /// Usually the answer is in memory. In a sandbox, or before the service has answered for the first
    /// time, this asks the service, and waits as a first read does: for two seconds at most, or for thirty
    /// while the bus starts it. If the service cannot be asked, the result is false.
    public func isLocked(_ key: AnyDefaultsKey) -> Bool {
        !Fork.isChild && store.isLocked(key.id)
    }

    /// The names of the keys that have values, also of keys that the program does not declare.
    ///
    /// - Parameter layer: The layer; nil for all layers except the command line. These include the
    ///   layers of all applications, such as `global`.
    /// - Returns: The names, sorted by code point.
    public func keys(in layer: DefaultsLayer? = nil) -> [String] {
        guard !Fork.isChild else { return [] }
        return store.names(in: layer).sorted().map(\.string)
    }
}
