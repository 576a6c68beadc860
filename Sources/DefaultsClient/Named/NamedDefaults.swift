import DefaultsProtocol
import DefaultsTerms
import Dispatch
package import KeyedArchive
import Synchronization

/// The defaults of a domain by the names of keys, for libraries of other languages.
///
/// It has no keys with types and defaults. The caller says with each call what it wants, and decides what to
/// do about an error: nothing of what is read here is reported to ``Defaults/failures``.
package struct NamedDefaults: Sendable {
    /// The same defaults.
    package let defaults: Defaults
    var store: Store { defaults.store }

    /// - Throws: ``DefaultsError`` with `invalidName`, or with `forked` in a forked process.
    package init(domain: String, arguments: [String]) throws(DefaultsError) {
        try Fork.check()
        Fork.watch()
        defaults = try Defaults(validating: domain, arguments: arguments)
    }

    /// Whether this process was forked, so that nothing can be used.
    package static var isForked: Bool { Fork.isChild }

    /// What every call fails with in a forked process.
    package static var forkedError: DefaultsError { .forked }

    /// What a call fails with that has an invalid name of a key.
    ///
    /// - Parameter name: The name, of any length.
    package static func check(key name: String) throws(DefaultsError) {
        guard KeyRule.allows(name) else { throw .badName(KeyName(name)) }
    }

    /// Waits until the domain is current, for two seconds at most, or for thirty while the service is
    /// started.
    ///
    /// - Throws: ``DefaultsError`` with `unreachable`.
    package func load() throws(DefaultsError) {
        try Fork.check()
        store.makeCurrentIfNeeded()
        if case .unreachable(let reason) = defaults.state { throw .unreachable(reason) }
    }
}

// MARK: Reading

extension NamedDefaults {
    /// What shows how long values are current that are read from now on; nil if nothing can.
    package func freshness() -> Freshness? { store.freshness() }

    /// Whether values are current that were read after this was taken.
    package func holds(_ freshness: borrowing Freshness) -> Bool {
        freshness.holds(at: store.revision.load(ordering: .acquiring))
    }

    /// The value that is in effect; nil if there is none.
    package func value(of key: String) throws(DefaultsError) -> StoredValue? {
        try Fork.check()
        let name = KeyName(key)
        let found = try store.findKnown(name)
        guard let entry = found.entry else { return nil }
        if let decoded = entry.decoded as? Decoded<StoredValue> { return decoded.value }
        let value: StoredValue
        switch entry.content {
        case .argument(let word):
            value = .word(ArgumentDomain.archives(of: word).map { StoredValue(of: $0) })
        case .archive(let bytes): value = StoredValue(of: try store.archive(of: bytes, for: name))
        case .large:
            // A large value is not kept in memory.
            return try archive(of: found, name).map { StoredValue(of: $0) }
        }
        entry.keep(Decoded(value))
        return value
    }

    /// The archive that is in effect, or that of a layer; nil if there is none.
    package func archive(
        of key: String, in layer: DefaultsLayer? = nil
    ) throws(DefaultsError) -> KeyedArchive? {
        try Fork.check()
        let name = KeyName(key)
        return try archive(of: store.findKnown(name, in: layer), name)
    }

    private func archive(
        of found: Found, _ name: KeyName
    ) throws(DefaultsError) -> KeyedArchive? {
        switch found.entry?.content {
        case nil: return nil
        case .archive(let bytes): return try store.archive(of: bytes, for: name)
        case .argument(let word): return ArgumentDomain.archives(of: word).first
        case .large:
            let bytes = try store.service.fetch(name, in: found.spelling ?? store.name)
            guard let bytes else { return nil }
            return try store.archive(of: bytes, for: name)
        }
    }

    /// The layer that the value in effect comes from; nil if there is none.
    package func layer(of key: String) throws(DefaultsError) -> DefaultsLayer? {
        try Fork.check()
        return try store.findKnown(KeyName(key)).layer
    }

    /// Whether the administrator has locked a key.
    package func isLocked(_ key: String) throws(DefaultsError) -> Bool {
        try Fork.check()
        return store.isLocked(KeyName(key))
    }
}

extension Store {
    /// What shows how long values are current that are read from now on.
    fileprivate func freshness() -> Freshness? {
        // A change between the two is not missed: it increases the revision.
        let revision = revision.load(ordering: .acquiring)
        return lock.read { access in
            isCurrent(access) ? Freshness(revision: revision, own: own, global, access) : nil
        }
    }

    /// The archive of bytes, without an exact type: the service gives it to what is set later.
    fileprivate func archive(
        of bytes: [UInt8], for name: KeyName
    ) throws(DefaultsError) -> KeyedArchive {
        do {
            let archive = try KeyedArchive(validating: bytes)
            return archive.withoutExactType ?? archive
        } catch {
            throw .undecodable(name, in: self.name, error)
        }
    }
}

// MARK: Writing

/// The new value of a key, encoded; nil in it to remove the key.
package struct NewValue: Sendable {
    fileprivate let entry: Entry?
    /// The value, if it is of a simple kind.
    package let value: StoredValue?
    /// The archive, if it was given as one.
    package let archive: KeyedArchive?

    /// The removal of a key.
    package static let removal = NewValue(entry: nil, value: nil, archive: nil)

    private init(entry: Entry?, value: StoredValue?, archive: KeyedArchive?) {
        (self.entry, self.value, self.archive) = (entry, value, archive)
    }

    /// A value of a simple kind for a key.
    package init(_ value: StoredValue, for key: String) throws(DefaultsError) {
        let bytes: [UInt8]
        do {
            bytes = try value.archiveBytes()
        } catch {
            throw .unencodable(KeyName(key), error)
        }
        try Self.check(bytes, of: key)
        self.init(
            entry: Entry(.archive(bytes), decoded: Decoded(value)), value: value, archive: nil)
    }

    /// An archive for a key.
    package init(_ archive: KeyedArchive, for key: String) throws(DefaultsError) {
        try Self.check(archive.bytes, of: key)
        self.init(entry: Entry(.archive(archive.bytes)), value: nil, archive: archive)
    }

    /// The archive; nil for the removal of a key.
    package func anyArchive() throws -> KeyedArchive? {
        if let archive { return archive }
        guard case .archive(let bytes)? = entry?.content else { return nil }
        return try KeyedArchive(validating: bytes)
    }

    private static func check(_ bytes: [UInt8], of key: String) throws(DefaultsError) {
        let limit = ContractLimits.maximumValueSize
        guard bytes.count <= limit else { throw .tooLarge(KeyName(key), limit: limit) }
    }
}

extension NamedDefaults {
    /// Sets or removes a key in the domain, at once here and in the background at the service.
    package func set(_ value: NewValue, for key: String) throws(DefaultsError) {
        try store.change(KeyName(key), to: value.entry, in: .domain, from: nil)
    }

    /// Makes a change of several keys in the background.
    ///
    /// - Parameters:
    ///   - values: The new values.
    ///   - expected: The generations that keys must still have.
    ///   - layer: A layer that can be written.
    package func apply(
        _ values: [KeyName: NewValue], expecting expected: [KeyName: UInt64],
        in layer: DefaultsLayer
    ) throws(DefaultsError) {
        try store.apply(values.mapValues(\.entry), expected: expected, in: layer, from: nil)
    }

    /// Makes a change of several keys, and waits for the answer.
    ///
    /// - Returns: The generation of the change.
    /// - Throws: ``DefaultsError``, as ``Defaults/transaction(in:_:)``.
    package func commit(
        _ values: [KeyName: NewValue], expecting expected: [KeyName: UInt64],
        in layer: DefaultsLayer, within bound: Duration
    ) throws(DefaultsError) -> UInt64 {
        try checkReachable()
        let answer = Answer()
        try store.apply(values.mapValues(\.entry), expected: expected, in: layer, from: nil) {
            answer.set($0)
        }
        return try answer.wait(within: bound)
    }

    /// Throws if the service is unreachable; before its first answer, this waits for the answer.
    func checkReachable() throws(DefaultsError) {
        try Fork.check()
        if case .connecting = defaults.state { store.makeCurrentIfNeeded() }
        if case .unreachable(let reason) = defaults.state { throw .notBegun(reason) }
    }

    /// The archive of a key in a layer at the service, and the generation of its last change; nil and 0 if
    /// there is none.
    ///
    /// Changes of this process come first: otherwise they would be conflicts.
    package func read(
        _ key: String, in layer: DefaultsLayer
    ) throws(DefaultsError) -> (archive: KeyedArchive?, generation: UInt64) {
        try checkReachable()
        guard let (copy, copyLayer) = store.place(of: layer) else { throw .notWritable(layer) }
        let name = KeyName(key)
        let (bytes, generation) = try waiting {
            try await store.waitForAnswers(within: .seconds(30))
            return try await store.service.read(name, in: copyLayer.spelling(of: copy.name))
        }
        guard let bytes else { return (nil, generation) }
        return (try store.archive(of: bytes, for: name), generation)
    }

    /// Waits until the service has answered the changes of this process.
    package func flush(within bound: Duration) throws(DefaultsError) {
        try waiting { try await defaults.flush(within: bound) }
    }

    /// Waits until the changes that were acknowledged are on disk.
    package func synchronize(within bound: Duration) throws(DefaultsError) {
        _ = try waiting { try await defaults.synchronize(within: bound) }
    }

    /// Runs a task, and blocks the thread until it has ended.
    func waiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws(DefaultsError) -> Value {
        try Fork.check()
        let (done, outcome) = (DispatchSemaphore(value: 0), OutcomeBox<Value>())
        LibraryTask.begin {
            do {
                outcome.set(.success(try await body()))
            } catch {
                outcome.set(.failure(.refusal(error)))
            }
            done.signal()
        }
        done.wait()
        guard let outcome = outcome.outcome else { throw .noAnswer(after: .zero) }
        return try outcome.get()
    }
}

/// The outcome of a task, for the thread that waits for it.
private final class OutcomeBox<Value: Sendable>: Sendable {
    private let held = Mutex<Result<Value, DefaultsError>?>(nil)

    var outcome: Result<Value, DefaultsError>? { held.withLock { $0 } }

    func set(_ outcome: Result<Value, DefaultsError>) {
        held.withLock { $0 = outcome }
    }
}

/// The answer to a change, for the thread that waits for it.
private final class Answer: Sendable {
    private let answered = DispatchSemaphore(value: 0)
    private let box = OutcomeBox<UInt64>()

    func set(_ outcome: Batch.Outcome) {
        box.set(outcome.mapError { DefaultsError.refusal($0) })
        answered.signal()
    }

    func wait(within bound: Duration) throws(DefaultsError) -> UInt64 {
        let (seconds, attoseconds) = bound.components
        let end =
            DispatchTime.now() + .seconds(Int(seconds))
            + .milliseconds(Int(attoseconds / 1_000_000_000_000_000))
        guard answered.wait(timeout: end) == .success, let outcome = box.outcome else {
            throw .noAnswer(after: bound)
        }
        return try outcome.get()
    }
}
