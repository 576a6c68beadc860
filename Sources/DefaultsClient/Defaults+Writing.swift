/// Writing.
extension Defaults {
    /// Sets a key in a layer, and tells where that cannot be tried.
    ///
    /// As with the subscript the value holds at once and is sent in the background.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    /// - Throws: ``ClientError`` where the layer cannot be written, the key is locked, too many changes
    ///   wait already, or the process was forked; `EncodingError` and whatever the type's own
    ///   `encode(to:)` throws where the value cannot be archived. Nothing has changed then.
    public func set<Value>(
        _ value: Value, for key: DefaultsKey<Value>, in layer: DefaultsLayer = .domain
    ) throws {
        try store.change(key.id, to: Entry(value, of: key), in: layer)
    }

    /// Removes what a layer has for a key, so that a weaker layer holds, or the key's default.
    ///
    /// What is refused is told of by ``failures``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    public func reset(_ key: DefaultsKeys, in layer: DefaultsLayer = .domain) {
        store.reporting([key.id], in: layer) { try store.change(key.id, to: nil, in: layer) }
    }

    /// Gives keys a value for the case that no layer has one.
    ///
    /// It holds for this process until it ends, and stands before the keys' own defaults.
    ///
    /// ```swift
    /// defaults.register {
    ///     $0[.playSound] = false
    /// }
    /// ```
    public func register(_ build: (inout DefaultsChanges) throws -> Void) rethrows {
        var changes = DefaultsChanges(self)
        try build(&changes)
        changes.report(to: store)
        guard !Fork.isChild else { return Fork.warn() }
        store.register(changes.entries)
    }

    /// Changes several keys at once: all or nothing, for this process and every other.
    ///
    /// They hold at once and are sent in the background, as one change. Where one of them is refused
    /// all are, and ``failures`` tells of it.
    ///
    /// ```swift
    /// defaults.apply {
    ///     $0[.playSound] = false
    ///     $0[.playMusic] = false
    ///     $0.reset(.volume)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    ///   - build: Sets and removes keys.
    public func apply(
        in layer: DefaultsLayer = .domain, _ build: (inout DefaultsChanges) throws -> Void
    ) rethrows {
        var changes = DefaultsChanges(self)
        try build(&changes)
        changes.report(to: store)
        guard changes.failures.isEmpty else { return }
        store.reporting(changes.entries.keys.sorted(), in: layer) {
            try store.apply(changes.entries, in: layer)
        }
    }

    /// Changes several keys at once, and waits until the service has taken them.
    ///
    /// - Parameters:
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    ///   - build: Sets and removes keys.
    /// - Returns: The generation of the change; where nothing is changed, the one that is known.
    /// - Throws: ``ClientError`` with the refusal, and with `undecodable` if `build` sets a key whose value
    ///   it has asked for, and that cannot be read; what cannot be archived; and what `build` throws.
    ///   Nothing has changed then. ``ClientError`` with `unreachable` where there was no answer for 30 s,
    ///   and `CancellationError` where the task is cancelled: the change goes on its way all the same.
    @discardableResult
    public nonisolated(nonsending) func commit(
        in layer: DefaultsLayer = .domain,
        _ build: (inout DefaultsChanges) throws -> Void
    ) async throws -> UInt64 {
        var changes = DefaultsChanges(self)
        try build(&changes)
        if let failure = changes.failures.first { throw failure.error }
        try changes.checkRead(in: layer)
        return try await store.commit(changes.entries, expected: [:], in: layer)
    }

    /// Changes a value on the ground of what it is, also where other processes do at the same time.
    ///
    /// Where another process comes in between, the closure is called again with what that has left.
    ///
    /// ```swift
    /// try await defaults.update(.highScore) { $0 = max($0, score) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - layer: The layer that is changed. Where it has no value, the closure is given what holds.
    ///   - body: Changes the value. It may be called several times, and has no other effect.
    /// - Returns: The value that was stored.
    /// - Throws: ``ClientError`` with `conflict` where others came in between a hundred times, with
    ///   `unreachable` where the service is known to be, with `undecodable` if the present value cannot be
    ///   read, which ``set(_:for:in:)`` replaces; the refusals of ``commit(in:_:)``; and what `body` throws.
    @discardableResult
    public nonisolated(nonsending) func update<Value>(
        _ key: DefaultsKey<Value>, in layer: DefaultsLayer = .domain,
        _ body: (inout Value) throws -> Void
    ) async throws -> Value {
        try await store.update(key, in: layer, body)
    }

    /// Waits until the service has answered every change of this process so far.
    ///
    /// What was refused meanwhile ``failures`` tells of.
    ///
    /// - Parameter bound: How long to wait.
    /// - Throws: ``ClientError`` with `unreachable` when that is over.
    public func flush(within bound: Duration = .seconds(30)) async throws {
        try await store.flush(within: bound)
    }

    /// Waits until every change of this process so far, and all that other processes were told is
    /// done, is on disk.
    ///
    /// - Parameter bound: How long to wait for each of both.
    /// - Returns: The generation that is on disk.
    /// - Throws: ``ClientError`` with `unreachable` when that is over, and with `notDurable` where
    ///   the disk refuses.
    @discardableResult
    public func synchronize(within bound: Duration = .seconds(30)) async throws -> UInt64 {
        try await store.flush(within: bound)
        return try await store.service.synchronize(within: bound)
    }
}

/// Changes of several keys that belong together.
public struct DefaultsChanges {
    private let defaults: Defaults
    private(set) var entries: [KeyName: Entry?] = [:]
    private(set) var failures: [DefaultsFailure] = []
    /// Why values could not be read that were asked for here.
    private var unread: [KeyName: any Error] = [:]

    init(_ defaults: Defaults) {
        self.defaults = defaults
    }

    /// The value of a key: as it was set here, the key's default where it was reset here, or as it
    /// holds.
    public subscript<Value>(key: DefaultsKey<Value>) -> Value {
        mutating get {
            guard let entry = entries[key.id] else { return read(key) }
            let value = try? defaults.store.value(of: Found(entry: entry), as: key)
            return value ?? key.defaultValue
        }
        set { set(newValue, for: key) }
    }

    private mutating func read<Value>(_ key: DefaultsKey<Value>) -> Value {
        do {
            return try defaults.store.readValue(of: key)
        } catch {
            unread[key.id] = error
            // It reports the failure, too.
            return defaults[key]
        }
    }

    /// Throws if a value of the layer is replaced that was asked for here and could not be read: the
    /// new one may have been made of the default.
    func checkRead(in layer: DefaultsLayer) throws {
        for (name, error) in unread {
            guard let entry = entries[name].flatMap(\.self),
                defaults.store.hasUnread(name, replacedBy: entry, in: layer)
            else { continue }
            throw ClientError.unread(name, in: defaults.domain, error)
        }
    }

    private mutating func set<Value>(_ value: Value, for key: DefaultsKey<Value>) {
        do {
            entries.updateValue(try Entry(value, of: key), forKey: key.id)
        } catch {
            failures.append(
                DefaultsFailure(
                    action: .write, keys: [key.id], domain: defaults.domain, error: error))
        }
    }

    /// Removes the layer's value of a key.
    public mutating func reset(_ key: DefaultsKeys) {
        entries.updateValue(nil, forKey: key.id)
    }

    func report(to store: Store) {
        for failure in failures { store.failures.tell(failure) }
    }
}
