/// Writing.
extension Defaults {
    /// Sets a key in a layer, and throws if that is refused in this process.
    ///
    /// As with the subscript, the value is in effect at once and is sent in the background.
    ///
    /// ```swift
    /// try defaults.set(0.3, for: .volume, in: .host)
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    /// - Throws: `notWritable` if the layer cannot be written, `locked`, `unencodable` if the value
    ///   cannot be archived, `tooManyChanges` if too many wait already, or `forked`. Nothing has changed
    ///   then.
    public func set<Value>(
        _ value: Value, for key: DefaultsKey<Value>, in layer: DefaultsLayer = .domain
    ) throws(DefaultsError) {
        try store.change(key.id, to: Entry(value, of: key), in: layer, from: origin)
    }

    /// Removes the values of keys from a layer, as one change.
    ///
    /// The values of a weaker layer, or the keys' defaults, are in effect then.
    ///
    /// If that is refused, ``failures`` reports it.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    public func reset(_ keys: AnyDefaultsKey..., in layer: DefaultsLayer = .domain) {
        reset(keys.map(\.id), in: layer)
    }

    /// Removes the values of keys that are in an array from a layer, as one change.
    ///
    /// For everything else, see ``reset(_:in:)``.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    public func reset(keys: [AnyDefaultsKey], in layer: DefaultsLayer = .domain) {
        reset(keys.map(\.id), in: layer)
    }

    /// Removes all values from a layer, as one change, also those of keys that the program does not know.
    ///
    /// The version of the domain stays, so that ``migrate(_:)`` does not run its steps again.
    ///
    /// If the domain was not read yet, this waits as a read does. If the change is refused, for example
    /// because a key is locked, ``failures`` reports it.
    ///
    /// - Parameter layer: `domain`, `host`, `global` or `global-host`; the last two have the values of
    ///   all applications.
    public func resetAll(in layer: DefaultsLayer = .domain) {
        guard !Fork.isChild else { return Fork.warn() }
        let names = store.names(in: layer).subtracting([AnyDefaultsKey.defaultsVersion.id])
        reset(Array(names), in: layer)
    }

    private func reset(_ names: [KeyName], in layer: DefaultsLayer) {
        store.reporting(names, in: layer) { () throws(DefaultsError) in
            if names.count == 1 {
                try store.change(names[0], to: nil, in: layer, from: origin)
            } else {
                let removals = names.map { ($0, nil as Entry?) }
                try store.apply(
                    Dictionary(removals) { first, _ in first }, in: layer, from: origin)
            }
        }
    }

    /// Registers values that are in effect if no layer has the key.
    ///
    /// They are for this process only, and stronger than the keys' own defaults. A second call adds to
    /// the values of the first one. A value that cannot be archived is left out, and ``failures`` reports
    /// it.
    ///
    /// ```swift
    /// defaults.register {
    ///     $0[.playSound] = false
    /// }
    /// ```
    ///
    /// - Parameter build: Sets keys; a key that it resets is not registered any more.
    public func register(_ build: (inout DefaultsEdits) throws -> Void) rethrows {
        var edits = DefaultsEdits(self)
        try build(&edits)
        for failure in edits.failures { store.failures.tell(failure) }
        guard !Fork.isChild else { return Fork.warn() }
        store.register(edits.entries)
    }

    /// Changes several keys as one change: every process sees all of it or nothing.
    ///
    /// The values are in effect at once, and are sent in the background. If one key is refused, or one
    /// value cannot be archived, the whole change is refused, and ``failures`` reports it. If the closure
    /// throws, nothing is changed.
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
        in layer: DefaultsLayer = .domain, _ build: (inout DefaultsEdits) throws -> Void
    ) rethrows {
        var edits = DefaultsEdits(self)
        try build(&edits)
        for failure in edits.failures { store.reportRefusal(failure) }
        guard edits.failures.isEmpty else { return }
        store.reporting(edits.entries.keys.sorted(), in: layer) { () throws(DefaultsError) in
            try store.apply(edits.entries, in: layer, from: origin)
        }
    }

    /// Changes several keys as one change, and waits until the service has acknowledged it.
    ///
    /// If the service is known to be unreachable, this throws at once, and nothing is sent later. If
    /// nothing was used before, this first waits until that is known, as ``load()`` does.
    ///
    /// ```swift
    /// try await defaults.transaction { $0[.volume] = 0.5 }
    /// ```
    ///
    /// - Parameters:
    ///   - layer: `domain`, `host`, `global` or `global-host`.
    ///   - build: Sets and removes keys.
    /// - Returns: The generation of the change, or the last known generation if nothing was changed.
    /// - Throws: If nothing has changed: ``DefaultsError`` with the refusal; with `unreachable` if the
    ///   service is known not to answer; with `undecodable` if `build` has read a key that cannot be
    ///   read, and sets it; with `unencodable` if a value cannot be archived; and what `build` throws.
    ///   If the change is still sent: ``DefaultsError`` with `unreachable` after 30 seconds without an
    ///   answer, and `CancellationError` if the task is cancelled.
    @discardableResult
    public nonisolated(nonsending) func transaction(
        in layer: DefaultsLayer = .domain,
        _ build: (inout DefaultsEdits) throws -> Void
    ) async throws -> UInt64 {
        var edits = DefaultsEdits(self)
        try build(&edits)
        if let failure = edits.failures.first { throw failure.error }
        try edits.checkRead(in: layer)
        return try await store.transact(edits.entries, in: layer, from: origin)
    }

    /// Changes a value that depends on the old one, without losing changes of other processes.
    ///
    /// If another process changes the value meanwhile, the closure is called again with the new value.
    ///
    /// ```swift
    /// try await defaults.update(.highScore) { $0 = max($0, score) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - layer: The layer that is changed. If it has no value, the closure gets the value that is in
    ///     effect.
    ///   - body: Changes the value. It may be called several times, so it should have no other effect.
    /// - Returns: The value that was stored, as others read it.
    /// - Throws: ``DefaultsError`` with `conflict` if other processes changed the value during each of a
    ///   hundred attempts, with `unreachable` if the service cannot be reached, and with `undecodable`
    ///   if the present value cannot be read (``set(_:for:in:)`` replaces such a value); the errors of
    ///   ``transaction(in:_:)``; and what `body` throws.
    @discardableResult
    public nonisolated(nonsending) func update<Value>(
        _ key: DefaultsKey<Value>, in layer: DefaultsLayer = .domain,
        _ body: (inout Value) throws -> Void
    ) async throws -> Value {
        try await store.update(key, in: layer, from: origin, body)
    }

    /// Waits until the service has answered every change that this process has made so far in this
    /// domain and in that of all applications.
    ///
    /// So if this returns, the changes since the last call are kept.
    ///
    /// ```swift
    /// try await defaults.flush(within: .seconds(5))
    /// ```
    ///
    /// - Parameter bound: How long to wait at most.
    /// - Throws: ``DefaultsError`` of the first change that was refused since the last call, such as
    ///   `locked`; ``failures`` reports each of them. With `unreachable` after that time, also if the
    ///   service is known not to be there, because it may come: the changes are still sent. At once if
    ///   none is installed that could come. With `forked` in a forked process. `CancellationError` if the
    ///   task is cancelled.
    public func flush(within bound: Duration = .seconds(30)) async throws {
        try await store.flush(within: bound)
    }

    /// Waits until every change that this process has made so far to this domain and that of all
    /// applications, and every change that was acknowledged to other processes, is on disk.
    ///
    /// - Parameter bound: How long to wait at most for the service, and then for the disk.
    /// - Returns: The generation that is on disk.
    /// - Throws: The errors of ``flush(within:)``; ``DefaultsError`` with `notDurable` if the disk fails.
    @discardableResult
    public func synchronize(within bound: Duration = .seconds(30)) async throws -> UInt64 {
        try await store.flush(within: bound)
        return try await store.service.synchronize(within: bound)
    }
}

/// Changes of several keys that are made as one change.
///
/// ``Defaults/apply(in:_:)``, ``Defaults/transaction(in:_:)`` and ``Defaults/register(_:)`` pass one to
/// their closures. Nothing is changed before the closure returns.
public struct DefaultsEdits {
    private let defaults: Defaults
    private(set) var entries: [KeyName: Entry?] = [:]
    private(set) var failures: [DefaultsFailure] = []
    /// Why values that were read here could not be read.
    private var unread: [KeyName: DefaultsError] = [:]

    init(_ defaults: Defaults) {
        self.defaults = defaults
    }

    /// The value of a key: the one that was set here; the key's default if it was reset here; otherwise
    /// the present one.
    public subscript<Value>(key: DefaultsKey<Value>) -> Value {
        mutating get {
            guard let entry = entries[key.id] else { return read(key) }
            let value = try? defaults.store.value(of: Found(entry: entry), as: key)
            return value ?? key.defaultValue
        }
        set { set(newValue, for: key) }
    }

    private mutating func read<Value>(_ key: DefaultsKey<Value>) -> Value {
        do throws(DefaultsError) {
            return try defaults.store.readValue(of: key)
        } catch {
            unread[key.id] = error
            // It reports the failure, too.
            return defaults[key]
        }
    }

    /// Throws if these changes replace a value that was read here and could not be read.
    ///
    /// The new value may be derived from the default.
    func checkRead(in layer: DefaultsLayer) throws(DefaultsError) {
        for (name, error) in unread {
            guard let entry = entries[name].flatMap(\.self),
                defaults.store.hasUnread(name, replacedBy: entry, in: layer)
            else { continue }
            throw .unread(name, in: defaults.domain, error)
        }
    }

    private mutating func set<Value>(_ value: Value, for key: DefaultsKey<Value>) {
        do throws(DefaultsError) {
            entries.updateValue(try Entry(value, of: key), forKey: key.id)
        } catch {
            failures.append(
                DefaultsFailure(
                    action: .write, keys: [key.id], domain: defaults.domain, error: error))
        }
    }

    /// Removes the values of keys from the layer.
    public mutating func reset(_ keys: AnyDefaultsKey...) {
        for key in keys { entries.updateValue(nil, forKey: key.id) }
    }
}
