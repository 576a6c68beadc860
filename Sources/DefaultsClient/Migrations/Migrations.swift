/// A step from one version of an application's defaults to the next.
///
/// ```swift
/// try await defaults.migrate([
///     DefaultsMigration(to: 1) { edits in
///         try edits.move(.loudness, to: .volume) { Double($0) / 10 }
///     },
///     DefaultsMigration(to: 2) { edits in try edits.copy(.playSound, to: .playMusic) },
/// ])
/// ```
///
/// See ``Defaults/migrate(_:)``.
public struct DefaultsMigration: Sendable {
    /// The version that the domain has after the step, 1 or more.
    public let version: Int
    let run: @Sendable (inout Edits) throws -> Void

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - version: The version that the domain has after the step, 1 or more.
    ///   - run: Changes the values of earlier versions. It may be called several times, and one call
    ///     counts, so it should have no other effect.
    public init(
        to version: Int, _ run: @escaping @Sendable (_ edits: inout Edits) throws -> Void
    ) {
        precondition(version > 0, "The version before the first step is 0.")
        self.version = version
        self.run = run
    }
}

extension DefaultsMigration {
    /// The values that a step reads and changes: the user's own values in the domain.
    ///
    /// Values of administrators, registered values, those on the command line and the keys' defaults
    /// are not included. Otherwise the step would store them as the user's own. So ``change(_:_:)``,
    /// ``move(_:to:)`` and ``copy(_:to:)`` do nothing if the user has not set the key.
    ///
    /// If one of these functions throws, let the step throw the error: then nothing is changed, and
    /// ``Defaults/migrate(_:)`` throws it.
    public struct Edits {
        private let store: Store
        private(set) var entries: [KeyName: Entry?] = [:]

        init(of store: Store) {
            self.store = store
        }

        /// The user's own value of a key; nil if the user has not set it.
        ///
        /// - Throws: The errors of ``Defaults/value(of:)``.
        public func value<Value>(
            of key: DefaultsKey<Value>
        ) throws(DefaultsError) -> Value? {
            guard let entry = entries[key.id] else {
                return try store.readValue(of: key, in: .domain)
            }
            return try store.value(of: Found(entry: entry), as: key)
        }

        /// Whether the user has set the key, or the step has.
        public func isSet(_ key: AnyDefaultsKey) -> Bool {
            entries[key.id].map { $0 != nil } ?? (store.find(key.id, in: .domain).entry != nil)
        }

        /// Whether the administrator has locked a key, so that a step that changes it is refused.
        public func isLocked(_ key: AnyDefaultsKey) -> Bool {
            store.isLocked(key.id)
        }

        /// The names of the keys that the user has set, sorted by code point.
        public var keys: [String] {
            var names = store.names(in: .domain)
            for (name, entry) in entries {
                if entry == nil { names.remove(name) } else { names.insert(name) }
            }
            return names.sorted().map(\.string)
        }

        /// Sets a key, also for users who have set nothing.
        ///
        /// ```swift
        /// try edits.set(true, for: .showWhatIsNew)
        /// ```
        ///
        /// - Throws: `unencodable` if the value cannot be archived.
        public mutating func set<Value>(
            _ value: Value, for key: DefaultsKey<Value>
        ) throws(DefaultsError) {
            entries.updateValue(try Entry(value, of: key), forKey: key.id)
        }

        /// Changes the value of a key if the user has set it.
        ///
        /// ```swift
        /// try edits.change(.volume) { $0 = min($0, 1) }
        /// ```
        ///
        /// - Throws: The errors of ``value(of:)`` and ``set(_:for:)``, and what the closure throws.
        public mutating func change<Value>(
            _ key: DefaultsKey<Value>, _ body: (inout Value) throws -> Void
        ) throws {
            guard var value = try value(of: key) else { return }
            try body(&value)
            try set(value, for: key)
        }

        /// Moves the value of a key to another key if the user has set it.
        ///
        /// If the user has already set the other key, too, that value stays. If both keys have the same
        /// name, the value gets the type of the second one.
        ///
        /// ```swift
        /// try edits.move(.loudness, to: .volume) { Double($0) / 10 }
        /// ```
        ///
        /// - Parameters:
        ///   - old: The key that loses its value.
        ///   - new: The key that gets the value.
        ///   - convert: Makes the new value of the old one.
        /// - Throws: The errors of ``value(of:)`` and ``set(_:for:)``, and what the closure throws.
        public mutating func move<Old, New>(
            _ old: DefaultsKey<Old>, to new: DefaultsKey<New>, _ convert: (Old) throws -> New
        ) throws {
            try copy(old, to: new, convert)
            if old.id != new.id { reset(old) }
        }

        /// Moves the value of a key to another key of the same type if the user has set it.
        ///
        /// If the user has already set the other key, too, that value stays.
        ///
        /// - Throws: The errors of ``value(of:)``.
        public mutating func move<Value>(
            _ old: DefaultsKey<Value>, to new: DefaultsKey<Value>
        ) throws(DefaultsError) {
            try copy(old, to: new)
            if old.id != new.id { reset(old) }
        }

        /// Copies the value of a key to another key if the user has set it.
        ///
        /// If the user has already set the other key, too, that value stays.
        ///
        /// - Parameters:
        ///   - key: The key that has the value.
        ///   - new: The key that gets the value.
        ///   - convert: Makes the new value of the old one.
        /// - Throws: The errors of ``value(of:)`` and ``set(_:for:)``, and what the closure throws.
        public mutating func copy<Old, New>(
            _ key: DefaultsKey<Old>, to new: DefaultsKey<New>, _ convert: (Old) throws -> New
        ) throws {
            guard key.id == new.id || !isSet(new), let value = try value(of: key) else { return }
            try set(try convert(value), for: new)
        }

        /// Copies the value of a key to another key of the same type if the user has set it.
        ///
        /// If the user has already set the other key, too, that value stays.
        ///
        /// - Throws: The errors of ``value(of:)``.
        public mutating func copy<Value>(
            _ key: DefaultsKey<Value>, to new: DefaultsKey<Value>
        ) throws(DefaultsError) {
            guard !isSet(new), let value = try value(of: key) else { return }
            try set(value, for: new)
        }

        /// Removes the user's own values of some keys.
        public mutating func reset(_ keys: AnyDefaultsKey...) {
            for key in keys { entries.updateValue(nil, forKey: key.id) }
        }
    }
}

/// Migrating the values of earlier versions of an application.
extension Defaults {
    /// Runs the steps that the domain has not had yet, each once among all processes.
    ///
    /// ```swift
    /// try await defaults.migrate([
    ///     DefaultsMigration(to: 1) { edits in
    ///         try edits.move(.loudness, to: .volume) { Double($0) / 10 }
    ///     }
    /// ])
    /// ```
    ///
    /// An application calls it at its start, before it reads anything else, with the steps of all its
    /// versions. The version of the domain is the integer under its key `DefaultsVersion`, or 0 if
    /// there is none. So the first start for a user also runs all steps, which then find no values.
    ///
    /// A step and its version are stored as one change. If another process changes the domain while a
    /// step runs, the step runs again with the new values, unless the other process has done it. If the
    /// program ends between two steps, it continues with the second one at its next start.
    ///
    /// The steps change the layer `domain` only.
    ///
    /// - Parameter steps: All steps, sorted by their versions. Another order ends the program.
    /// - Returns: The domain's version now.
    /// - Throws: ``DefaultsError`` with `newerVersion` if a later version of the application has migrated
    ///   the domain: nothing was changed, and the values may have other meanings; with `unreachable` if
    ///   there is no service; with `conflict` if other processes changed the domain during each of a
    ///   hundred attempts. Also the errors of ``transaction(in:_:)``, for example if a key is locked, and
    ///   what a step throws or could not read. Earlier steps stay done.
    @discardableResult
    public func migrate(_ steps: [DefaultsMigration]) async throws -> Int {
        precondition(
            zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version },
            "The steps of a migration are in the order of their versions.")
        return try await store.migrate(steps, from: origin)
    }
}

extension AnyDefaultsKey {
    static let defaultsVersion = DefaultsKey("DefaultsVersion", default: 0)
}

extension Store {
    func migrate(_ steps: [DefaultsMigration], from origin: DefaultsOrigin?) async throws -> Int {
        // One after the other: a step would read what another one has changed and will be refused.
        try await updates.begin()
        defer { updates.end() }
        let newest = steps.last?.version ?? 0
        var attemptsLeft = Self.attempts
        while true {
            let generation = try await generationToMigrate()
            let version = try readValue(of: .defaultsVersion, in: .domain) ?? 0
            guard version <= newest else {
                throw DefaultsError.newerVersion(version, of: name, known: newest)
            }
            guard let step = steps.first(where: { $0.version > version }) else { return version }
            do {
                try await run(step, at: generation, from: origin)
                attemptsLeft = Self.attempts
            } catch {
                guard DefaultsError.isConflict(error) else { throw error }
                attemptsLeft -= 1
                guard attemptsLeft > 0 else {
                    throw DefaultsError.tooMuchContention(
                        AnyDefaultsKey.defaultsVersion.id, in: name, attempts: Self.attempts)
                }
            }
        }
    }

    private static let attempts = 100

    /// The generation of the domain before anything is read.
    ///
    /// A later change is a conflict, even if a step has already read it.
    private func generationToMigrate() async throws -> UInt64 {
        try Fork.check()
        try await makeKnown()
        // Changes of this process that are in flight come first. Otherwise they would be conflicts.
        try await flush(within: Self.patience)
        try await makeKnown()
        return lock.read { $0[own.state].generation }
    }

    /// How long a step waits for the service, and the pause before it is asked again.
    private static let patience = Duration.seconds(30)
    private static let pause = Duration.milliseconds(20)

    /// Reads the domain if it was never read.
    ///
    /// A service that has just gone and is not known to be unreachable is asked again: while it
    /// starts, the first calls may be lost.
    ///
    /// If the copy is outdated, that becomes a conflict later.
    private func makeKnown() async throws {
        let deadline = ContinuousClock.now + Self.patience
        await load()
        while try !isKnown {
            guard ContinuousClock.now < deadline else {
                throw DefaultsError.unreachable("It has not answered yet.")
            }
            try await Task.sleep(for: Self.pause)
            await load()
        }
    }

    /// Whether the domain was ever read.
    ///
    /// - Throws: ``DefaultsError`` if the service cannot be reached.
    private var isKnown: Bool {
        get throws {
            let (state, isKnown) = lock.read { access in
                (
                    service.state(access),
                    access[own.state].isLoaded || access[own.state].isCurrent
                )
            }
            if case .unreachable(let reason) = state { throw DefaultsError.unreachable(reason) }
            return isKnown
        }
    }

    private func run(
        _ step: DefaultsMigration, at generation: UInt64, from origin: DefaultsOrigin?
    ) async throws {
        var edits = DefaultsMigration.Edits(of: self)
        try step.run(&edits)
        try edits.set(step.version, for: .defaultsVersion)
        _ = try await transact(
            edits.entries, expected: [KeyName(""): generation], in: .domain, from: origin)
    }
}
