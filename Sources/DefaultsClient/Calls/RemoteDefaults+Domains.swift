import DBus
package import DefaultsProtocol
import DefaultsTerms
public import KeyedArchive

/// Changes of several keys, and whole domains.
extension RemoteDefaults {
    /// A large transaction is validated archive by archive, and may have to wait for the disk.
    private static let patience = Duration.seconds(300)

    /// Makes all changes of a transaction, or none.
    ///
    /// - Parameters:
    ///   - transaction: The changes.
    ///   - domain: The domain, with the suffix of a layer.
    /// - Returns: The generation of the change.
    /// - Throws: ``DefaultsError`` with `conflict` if a key has not the expected generation, and with
    ///   `refused` if a key is named twice.
    @discardableResult
    public func apply(
        _ transaction: DefaultsTransaction, in domain: String
    ) async throws -> UInt64 {
        try await withSponsor(transaction.sponsor) { sponsor in
            try await call(
                Contract.Apply.self, transaction.arguments(in: domain, by: sponsor),
                timeout: Self.patience)
        }
    }

    /// Makes a change with who is behind it, or without that if the daemon is an older one.
    private func withSponsor(
        _ sponsor: ChangeSponsor?, _ change: (ChangeSponsor?) async throws -> UInt64
    ) async throws -> UInt64 {
        do {
            return try await change(sponsor)
        } catch let error as DefaultsError where sponsor != nil && error.refusesSponsor {
            // Nothing was changed.
            return try await change(nil)
        }
    }

    /// Makes the transactions of several domains as one change, all or none.
    ///
    /// ```swift
    /// try await defaults.applyAll([("org.example.Game", game), ("org.example.Menu", menu)])
    /// ```
    ///
    /// - Parameters:
    ///   - transactions: One for each domain. Their own token, `isDurable`, `isUndo` and
    ///     `unchangedSince` do not count.
    ///   - isDurable: Whether the call waits until the change is on disk.
    ///   - isUndo: Whether the change takes back an earlier one, so that no quota refuses it.
    ///   - token: A name for the change. A repetition with the same name and the same first domain has
    ///     no effect and returns the same result.
    ///   - unchangedSince: The generation after which none of the keys may have changed; nil if they may
    ///     have.
    /// - Returns: The generation of the change, which all domains have.
    /// - Throws: The errors of ``apply(_:in:)``, and ``DefaultsError`` with `refused` if a domain is
    ///   named twice.
    @discardableResult
    public func applyAll(
        _ transactions: [(domain: String, transaction: DefaultsTransaction)],
        isDurable: Bool = false, isUndo: Bool = false, token: String? = nil,
        unchangedSince: UInt64? = nil
    ) async throws -> UInt64 {
        let sponsors = transactions.lazy.compactMap(\.transaction.sponsor)
        return try await withSponsor(sponsors.first) { sponsor in
            let arguments = Contract.ApplyAll.Arguments(
                transactions.map { $0.transaction.arguments(in: $0.domain, by: nil) },
                options: .init(
                    isDurable: isDurable, token: token, isUndo: isUndo,
                    unchangedSince: unchangedSince,
                    listsLocked: transactions.contains { $0.transaction.listsLockedKeys },
                    sponsor: sponsor))
            return try await call(Contract.ApplyAll.self, arguments, timeout: Self.patience)
        }
    }

    /// Renames a key to a name that no key has.
    ///
    /// - Returns: The generation of the change.
    /// - Throws: ``DefaultsError`` with `notFound` if there is no such key, and with `conflict` if there
    ///   is a key with the new name.
    @discardableResult
    public func rename(
        _ key: String, to newKey: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.Rename.self, (domain, key, newKey))
    }

    /// Removes all keys of a domain in one change.
    ///
    /// If there is no such domain, nothing happens.
    ///
    /// - Returns: The generation of the change.
    @discardableResult
    public func removeDomain(_ domain: String) async throws -> UInt64 {
        try await call(Contract.RemoveDomain.self, domain, timeout: Self.patience)
    }

    /// All keys of a domain with their archives; empty if there is no such domain.
    ///
    /// A domain of up to 32 MiB, which fits one reply, is read at one moment. The large values of a
    /// larger domain are read one after the other, each as it is then.
    ///
    /// - Parameter domain: The domain, with the suffix of a layer.
    /// - Returns: The entries, sorted by the code points of their keys, and the generation of the
    ///   database when the reading began.
    public func entries(
        in domain: String
    ) async throws -> (entries: [DefaultsEntry], generation: UInt64) {
        let (stored, generation) = try await storedEntries(in: domain)
        let entries = try stored.map { key, archive in
            DefaultsEntry(key: key, archive: try KeyedArchive(validating: archive))
        }
        return (entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, generation)
    }

    /// The same as ``entries(in:)``, in any order and without a look at the archives.
    package func storedEntries(
        in domain: String
    ) async throws -> (entries: [(key: String, archive: [UInt8])], generation: UInt64) {
        var (bytes, large, generation) = try await sentEntries(in: domain)
        for key in large {
            do {
                bytes.append((key, try await archive(forKey: key, in: domain).archive.bytes))
            } catch let error as DefaultsError where error.code == .notFound {
                // It was removed after the service had named it.
                continue
            }
        }
        return (bytes, generation)
    }

    private typealias SentEntries = (
        entries: [(key: String, archive: [UInt8])], large: [String], generation: UInt64
    )

    /// The whole domain in one reply if it fits; otherwise the archives that are sent, and the other
    /// keys.
    private func sentEntries(in domain: String) async throws -> SentEntries {
        do {
            let (entries, generation) = try await call(
                Contract.GetAll.self, domain, timeout: Self.patience)
            return (entries, [], generation)
        } catch let error as DefaultsError where error.code == .tooLarge {
            let changes = try await call(
                Contract.GetChanges.self, (domain, 0), timeout: Self.patience)
            return (changes.changed, changes.large, changes.generation)
        }
    }
}

/// A key of a domain with its value.
public struct DefaultsEntry: Sendable {
    /// The key.
    public let key: String
    /// Its value.
    public let archive: KeyedArchive

    /// Makes an entry.
    public init(key: String, archive: KeyedArchive) {
        self.key = key
        self.archive = archive
    }
}

/// What a watcher receives.
public enum ChangeNotice: Sendable, Hashable {
    /// One change was made.
    case change(DefaultsChange)
    /// Changes were dropped because too many waited. Read everything again.
    case missed
}

/// One change as the signal `Changed` reports it: names without values.
public struct DefaultsChange: Sendable, Hashable {
    /// The domain, without a suffix.
    public let domain: String
    /// The layer: `domain`, `host`, `managed` or `system`.
    public let layer: String
    /// The keys that have another value now.
    public let changed: [String]
    /// The keys that were removed.
    public let removed: [String]
    /// The generation of the change.
    public let generation: UInt64
    /// The unique bus name of the writer.
    public let origin: String

    /// The domain as a call takes it, with the suffix of the layer.
    public var domainWithLayer: String {
        LayerName(rawValue: layer)?.spelling(of: domain) ?? domain + LayerName.separator + layer
    }
}

extension RemoteDefaults {
    /// How many changes are kept for a watcher that is slow.
    private static let bufferedChanges = 1024

    /// Follows the changes of one domain, in all its layers, or of all domains.
    ///
    /// The watch has begun when this returns. A watcher that is too slow gets ``ChangeNotice/missed``.
    ///
    /// - Parameter domain: The name of a domain, without a suffix; nil for all.
    public func changes(
        in domain: String? = nil
    ) async throws -> some AsyncSequence<ChangeNotice, any Error> & Sendable {
        let rule = ChangedSignal.rule(from: Contract.busName, of: domain)
        let signals: SignalStream
        do {
            signals = try await connection.signals(rule, limit: Self.bufferedChanges)
        } catch {
            throw DefaultsError.ofCall(error)
        }
        return signals.map { element in
            switch element {
            case .signal(let signal): .change(try DefaultsChange(reading: signal))
            case .overflow: .missed
            }
        }
    }
}

extension DefaultsChange {
    fileprivate init(reading signal: Signal) throws {
        do {
            let change = try ChangedSignal(signal)
            self.init(
                domain: change.domain, layer: change.layer, changed: change.changed,
                removed: change.removed, generation: change.generation, origin: change.origin)
        } catch {
            throw DefaultsError.ofCall(error)
        }
    }
}

/// Changes of several keys of one domain that are made as one change, all or none.
///
/// ```swift
/// var transaction = DefaultsTransaction()
/// transaction.set("PlaySound", to: archive)
/// transaction.remove("PlayMusic")
/// try await defaults.apply(transaction, in: "org.example.Game")
/// ```
public struct DefaultsTransaction: Sendable {
    /// The keys that get a value.
    public private(set) var values: [(key: String, archive: KeyedArchive)] = []
    /// The keys that are removed.
    ///
    /// A key that does not exist is no error.
    public private(set) var removals: [String] = []
    /// The generation that a key must still have; 0 if it must not exist.
    ///
    /// The key "" stands for the whole domain.
    public var expected: [String: UInt64] = [:]
    /// The generation after which none of the keys that are set or removed may have changed; nil if
    /// they may have.
    ///
    /// The change is refused, too, if the database does not know all changes since then.
    public var unchangedSince: UInt64?
    /// Whether the error has all locked keys of the change, in ``DefaultsError/lockedKeys``.
    public var listsLockedKeys = false
    /// Whether the call waits until the change is on disk.
    public var isDurable = false
    /// Whether the change takes back an earlier one, so that no quota refuses it.
    ///
    /// Programs in a sandbox are refused all the same.
    public var isUndo = false
    /// A name for the transaction.
    ///
    /// A second transaction with the same name has no effect and returns the same result.
    public var token: String?
    /// On whose behalf the change is made, for the history; nil if it is this program's own.
    ///
    /// In ``RemoteDefaults/applyAll(_:isDurable:isUndo:token:unchangedSince:)`` the first one counts for
    /// all. An older daemon, which has no history, does not get it.
    package var sponsor: ChangeSponsor?

    /// Makes a transaction that changes nothing yet.
    public init() {}

    /// Whether it changes nothing.
    public var isEmpty: Bool { values.isEmpty && removals.isEmpty }

    /// Sets a key.
    ///
    /// A transaction names each key once.
    public mutating func set(_ key: String, to archive: KeyedArchive) {
        values.append((key, archive))
    }

    /// Removes a key.
    ///
    /// A transaction names each key once.
    public mutating func remove(_ key: String) {
        removals.append(key)
    }

    fileprivate func arguments(
        in domain: String, by sponsor: ChangeSponsor?
    ) -> Contract.Apply.Arguments {
        Contract.Apply.Arguments(
            domain: domain, set: values.map { ($0.key, $0.archive.bytes) }, removed: removals,
            expected: expected.map { ($0.key, $0.value) },
            options: .init(
                isDurable: isDurable, token: token, isUndo: isUndo, unchangedSince: unchangedSince,
                listsLocked: listsLockedKeys, sponsor: sponsor))
    }
}

extension DefaultsError {
    /// Whether a daemon has refused the change because it does not know who can be behind one.
    fileprivate var refusesSponsor: Bool {
        (ofContract as? ContractError)?.isRefusal(ofOption: ChangeSponsor.option) ?? false
    }
}
