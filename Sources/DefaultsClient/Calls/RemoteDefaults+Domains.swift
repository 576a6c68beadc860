import DBus
import DefaultsProtocol
import DefaultsTerms
public import KeyedArchive

/// Changes of several keys, and whole domains.
extension RemoteDefaults {
    /// A large transaction is validated archive by archive, and may have to wait for the disk.
    private static let patience = Duration.seconds(300)

    /// Makes all changes of a transaction, or none, and gives the generation of the change.
    ///
    /// - Throws: An error of the code ``ClientError/Code/conflict`` if an expected generation does not
    ///   hold, and ``ClientError/Code/refused`` if a key is named twice.
    @discardableResult
    public func apply(
        _ transaction: DefaultsTransaction, in domain: String
    ) async throws -> UInt64 {
        let arguments = Contract.Apply.Arguments(
            domain: domain, set: transaction.values.map { ($0.key, $0.archive.bytes) },
            removed: transaction.removals,
            expected: transaction.expected.map { ($0.key, $0.value) },
            options: .init(isDurable: transaction.isDurable, token: transaction.token))
        return try await call(Contract.Apply.self, arguments, timeout: Self.patience)
    }

    /// Gives a key another name, and gives the generation of the change.
    ///
    /// - Throws: An error of the code ``ClientError/Code/notFound`` if there is no such key, and
    ///   ``ClientError/Code/conflict`` if the new name is taken.
    @discardableResult
    public func rename(
        _ key: String, to newKey: String, in domain: String
    ) async throws -> UInt64 {
        try await call(Contract.Rename.self, (domain, key, newKey))
    }

    /// Removes every key of a domain in one change, and gives its generation.
    ///
    /// A domain that is not there is no error, and its removal no change.
    @discardableResult
    public func removeDomain(_ domain: String) async throws -> UInt64 {
        try await call(Contract.RemoveDomain.self, domain, timeout: Self.patience)
    }

    /// All keys of a domain with their archives, by key; none for a domain that is not there.
    ///
    /// A domain that one reply can hold, 32 MiB, is read at one moment. Of a larger one the values
    /// that the service only names are read one after the other, and what changes meanwhile is as it
    /// is then.
    ///
    /// - Returns: The entries in the order of their keys, by code point, and the generation of the
    ///   domain when the reading began.
    public func entries(
        in domain: String
    ) async throws -> (entries: [DefaultsEntry], generation: UInt64) {
        var (bytes, large, generation) = try await sentEntries(in: domain)
        for key in large {
            do {
                bytes.append((key, try await archive(forKey: key, in: domain).archive.bytes))
            } catch let error as DefaultsError where error.code == .notFound {
                // It went away since it was named, so it is not of the domain any more.
                continue
            }
        }
        let entries = try bytes.map { key, archive in
            DefaultsEntry(key: key, archive: try KeyedArchive(validating: archive))
        }
        return (entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, generation)
    }

    private typealias SentEntries = (
        entries: [(String, [UInt8])], large: [String], generation: UInt64
    )

    /// The whole domain in one reply where it fits, else what is sent of it, and the other keys.
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
    /// More changes came than were taken: read again what you hold.
    case missed
}

/// One change as the signal `Changed` reports it: names, never values.
public struct DefaultsChange: Sendable, Hashable {
    /// The domain, without a suffix.
    public let domain: String
    /// The layer: `domain`, `host`, `managed` or `system`.
    public let layer: String
    /// The keys that have another value now.
    public let changed: [String]
    /// The keys that are gone.
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
    /// The watch has begun when this returns. A watcher that does not keep up gets
    /// ``ChangeNotice/missed``.
    ///
    /// - Parameter domain: The name of a domain, without a suffix; nil for all.
    public func changes(
        in domain: String? = nil
    ) async throws -> some AsyncSequence<ChangeNotice, any Error> & Sendable {
        let rule = ChangedSignal.rule(from: Contract.busName, of: domain)
        let signals = try await connection.signals(rule, limit: Self.bufferedChanges)
        return signals.map { element in
            switch element {
            case .signal(let signal): .change(DefaultsChange(try ChangedSignal(signal)))
            case .overflow: .missed
            }
        }
    }
}

extension DefaultsChange {
    init(_ signal: ChangedSignal) {
        self.init(
            domain: signal.domain, layer: signal.layer, changed: signal.changed,
            removed: signal.removed, generation: signal.generation, origin: signal.origin)
    }
}

/// Changes of several keys of one domain, made all or not at all, as one change.
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
    /// The keys that are removed; one that is not there is no error.
    public private(set) var removals: [String] = []
    /// The generation that a key must still have, 0 where it must be absent; the key "" stands for
    /// the whole domain.
    public var expected: [String: UInt64] = [:]
    /// Whether the reply waits until the change is on disk.
    public var isDurable = false
    /// A name for the transaction: a second one with the same name replies what the first did.
    public var token: String?

    /// Makes a transaction that changes nothing yet.
    public init() {}

    /// Whether it changes nothing.
    public var isEmpty: Bool { values.isEmpty && removals.isEmpty }

    /// Sets a key, which no other part of the transaction names.
    public mutating func set(_ key: String, to archive: KeyedArchive) {
        values.append((key, archive))
    }

    /// Removes a key, which no other part of the transaction names.
    public mutating func remove(_ key: String) {
        removals.append(key)
    }
}
