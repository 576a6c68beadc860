/// A step from one version of an application's defaults to the next.
///
/// ```swift
/// try await defaults.migrate([
///     DefaultsMigration(to: 1) { changes in
///         guard changes.isSet(.loudness) else { return }
///         changes[.volume] = Double(changes[.loudness]) / 10
///         changes.reset(.loudness)
///     },
///     DefaultsMigration(to: 2) { changes in changes[.playMusic] = changes[.playSound] },
/// ])
/// ```
///
/// See ``Defaults/migrate(_:)``.
public struct DefaultsMigration: Sendable {
    /// The version that the domain has after the step, 1 or more.
    public let version: Int
    let run: @Sendable (inout Changes) throws -> Void

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - version: The version that the domain has after the step, 1 or more.
    ///   - run: Changes what earlier versions have left. It may be called several times, of which one
    ///     counts, and has no other effect than its changes.
    public init(
        to version: Int, _ run: @escaping @Sendable (_ changes: inout Changes) throws -> Void
    ) {
        precondition(version > 0, "The version before the first step is 0.")
        self.version = version
        self.run = run
    }
}

extension DefaultsMigration {
    /// What a step reads and changes: the user's own values in the domain.
    ///
    /// What the administrator prescribes, what is registered, and what stands on the command line of
    /// this run are not seen, or they would be stored as if the user had chosen them.
    public struct Changes {
        private let store: Store
        private(set) var entries: [KeyName: Entry?] = [:]
        /// What a subscript could not say.
        private(set) var failure: (any Error)?

        init(of store: Store) {
            self.store = store
        }

        /// The user's own value of a key, or the key's default where there is none.
        ///
        /// A value that is none of the key's type, or cannot be archived, ends the step: nothing is
        /// changed, and ``Defaults/migrate(_:)`` throws the reason.
        public subscript<Value>(key: DefaultsKey<Value>) -> Value {
            mutating get { trying { try $0.value(of: key) } ?? key.defaultValue }
            set {
                trying { changes in
                    changes.entries.updateValue(try Entry(newValue, of: key), forKey: key.id)
                }
            }
        }

        private func value<Value>(of key: DefaultsKey<Value>) throws -> Value? {
            guard let entry = entries[key.id] else {
                return try store.readValue(of: key, in: .domain)
            }
            return try store.value(of: Found(entry: entry), as: key)
        }

        @discardableResult
        private mutating func trying<Result>(_ body: (inout Self) throws -> Result?) -> Result? {
            do {
                return try body(&self)
            } catch {
                failure = failure ?? error
                return nil
            }
        }

        /// Whether the user has a value of their own.
        public func isSet(_ key: DefaultsKeys) -> Bool {
            entries[key.id].map { $0 != nil } ?? (store.find(key.id, in: .domain).entry != nil)
        }

        /// The names of the keys of which the user has a value of their own, sorted by code point.
        public var keys: [String] {
            var names = store.names(in: .domain)
            for (name, entry) in entries {
                if entry == nil { names.remove(name) } else { names.insert(name) }
            }
            return names.sorted().map(\.string)
        }

        /// Removes the user's own value of a key.
        public mutating func reset(_ key: DefaultsKeys) {
            entries.updateValue(nil, forKey: key.id)
        }
    }
}

/// Bringing what earlier versions of an application have left up to date.
extension Defaults {
    /// Runs the steps that the domain has not been through, each once among all processes.
    ///
    /// An application calls it when it starts, before it reads anything else, with all steps there
    /// have ever been. The domain's version is the integer `DefaultsVersion` among its own keys, and 0
    /// where that is absent; so a user's first start runs all steps too, which then find nothing set.
    ///
    /// A step and its version are one change: all of it is stored or nothing. Where another process
    /// changes the domain while a step runs, the step is run again with what that has left, if it is
    /// not done by then. A program that is ended between two steps goes on with the second one at its
    /// next start.
    ///
    /// - Parameter steps: All steps, in the order of their versions.
    /// - Returns: The domain's version now.
    /// - Throws: ``ClientError`` with `newerVersion` where a later version of the application has been
    ///   here: nothing was changed, and what the domain has may mean other things; with `unreachable`
    ///   where there is no service to ask, with `conflict` where others came in between a hundred
    ///   times. The refusals of ``commit(in:_:)``, a key that is locked for one; and what a step throws,
    ///   or could not read. The steps before that one stay done.
    @discardableResult
    public func migrate(_ steps: [DefaultsMigration]) async throws -> Int {
        precondition(
            zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version },
            "The steps of a migration are in the order of their versions.")
        return try await store.migrate(steps)
    }
}

extension DefaultsKeys {
    static let defaultsVersion = DefaultsKey("DefaultsVersion", default: 0)
}

extension Store {
    func migrate(_ steps: [DefaultsMigration]) async throws -> Int {
        let newest = steps.last?.version ?? 0
        var attemptsLeft = Self.attempts
        while true {
            let generation = try await generationToMigrate()
            let version = try readValue(of: .defaultsVersion, in: .domain) ?? 0
            guard version <= newest else {
                throw ClientError.newerVersion(version, of: name, known: newest)
            }
            guard let step = steps.first(where: { $0.version > version }) else { return version }
            do {
                try await run(step, at: generation)
                attemptsLeft = Self.attempts
            } catch {
                guard ClientError.isConflict(error) else { throw error }
                attemptsLeft -= 1
                guard attemptsLeft > 0 else {
                    throw ClientError.tooMuchContention(
                        DefaultsKeys.defaultsVersion.id, in: name, attempts: Self.attempts)
                }
            }
        }
    }

    private static let attempts = 100

    /// Takes note of a generation of the domain before anything is read: whatever changes after it is
    /// a conflict, also where a step reads some of it already.
    private func generationToMigrate() async throws -> UInt64 {
        try Fork.check()
        service.makeCurrent(copies)
        try checkReachable()
        // Our own changes that are on their way come first, or they would be a conflict.
        try await flush(within: .seconds(30))
        service.makeCurrent(copies)
        try checkReachable()
        return lock.read { $0[own.state].generation }
    }

    /// Throws where the domain was never read: what it has is not known.
    ///
    /// Where what was read is older than it should be, that is a conflict later on.
    private func checkReachable() throws {
        let (state, isKnown) = lock.read { access in
            (
                service.state(access),
                access[own.state].isLoaded || access[own.state].isCurrent
            )
        }
        if case .unreachable(let reason) = state { throw ClientError.unreachable(reason) }
        guard isKnown else { throw ClientError.unreachable("It has not answered yet.") }
    }

    private func run(_ step: DefaultsMigration, at generation: UInt64) async throws {
        var changes = DefaultsMigration.Changes(of: self)
        try step.run(&changes)
        if let failure = changes.failure { throw failure }
        changes[.defaultsVersion] = step.version
        _ = try await commit(changes.entries, expected: [KeyName(""): generation], in: .domain)
    }
}
