import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import ValuePaths

/// Edits of keys of one domain, which are made as one change or not at all.
struct DomainEdits {
    let domain: String
    /// The line of a document that first names the domain.
    let line: Int
    /// The lines of a document that first name the keys.
    private(set) var lines: [String: Int] = [:]
    /// Whether to wait until the change is on disk.
    var isDurable = false
    /// One edit for each key, in the order in which the keys were first named.
    private var edits: [String: Edit] = [:]
    private var keys: [String] = []
    /// The generations that the user expects keys to have.
    private var expected: [String: UInt64] = [:]

    /// The most bytes of archives and names that one change can have: the limit of D-Bus, minus
    /// some room for the rest of the message.
    private static let mostBytes = 60 << 20

    init(of domain: String, line: Int = 0) {
        self.domain = domain
        self.line = line
    }

    /// Adds an edit of a key.
    ///
    /// It is made after those that were added before.
    ///
    /// - Parameters:
    ///   - generation: The generation that the key must still have, or 0 if it must be absent; nil
    ///     if any will do.
    ///   - line: Its line in the document.
    /// - Throws: `ToolError` if the key is invalid, or if it is expected to have two different
    ///   generations.
    mutating func add(
        _ edit: Edit, of key: String, ifStillAt generation: UInt64? = nil, line: Int = 0
    ) throws(ToolError) {
        guard KeyRule.allows(key) else { throw .noSuchKey(key) }
        if case .set(let archive) = edit, archive.bytes.count > ContractLimits.maximumValueSize {
            throw .valueTooLarge(key, archive.bytes.count)
        }
        if let earlier = expected[key], let generation, earlier != generation {
            throw .twoGenerations(key)
        }
        if let earlier = edits[key] {
            edits[key] = earlier.followed(by: edit)
        } else {
            edits[key] = edit
            keys.append(key)
            lines[key] = line
        }
        if let generation { expected[key] = generation }
    }
}

// MARK: Checking

extension DomainEdits {
    /// The error of the edit of one key.
    struct KeyFailure: Error {
        let key: String
        let reason: any Error
    }

    /// Asks the service whether the domain is valid and whether it would accept these changes now.
    ///
    /// Nothing is changed.
    ///
    /// - Throws: ``KeyFailure`` if one key is the reason.
    func check(with defaults: RemoteDefaults) async throws {
        if LayerName.isReadOnly(domain) {
            throw ToolError.readOnly(domain)
        }
        _ = try await defaults.keys(in: domain)
        if let locked = try await defaults.lockedKeys(of: keys, in: domain, atMost: 1).first {
            throw KeyFailure(key: locked.key, reason: locked)
        }
        do {
            try await checkExpectations(of: keys, with: defaults)
        } catch let error as DefaultsError where error.code == .conflict {
            throw await failedExpectation(with: defaults) ?? error
        }
        _ = try await transaction(on: defaults, against: nil)
    }

    /// The first key whose generation differs from the expected one; nil if there is none by now.
    private func failedExpectation(with defaults: RemoteDefaults) async -> KeyFailure? {
        for key in keys where expected[key] != nil {
            do {
                try await checkExpectations(of: [key], with: defaults)
            } catch {
                return KeyFailure(key: key, reason: error)
            }
        }
        return nil
    }

    /// Has the service compare generations, with a transaction that changes nothing.
    private func checkExpectations(
        of keys: [String], with defaults: RemoteDefaults
    ) async throws {
        var transaction = DefaultsTransaction()
        for key in keys { transaction.expected[key] = expected[key] }
        guard !transaction.expected.isEmpty else { return }
        try await defaults.apply(transaction, in: domain)
    }
}

// MARK: Making

extension DomainEdits {
    /// Makes all edits.
    ///
    /// If another program changes a value meanwhile, the edit is repeated on the new value, so no
    /// change is lost.
    ///
    /// - Parameter isCompared: Whether to find out what was changed. If so, the current values are
    ///   read first, and the change depends on them.
    /// - Throws: `DefaultsError` with `conflict` if a key does not have the expected generation.
    @discardableResult
    func apply(
        to defaults: RemoteDefaults, comparing isCompared: Bool = false
    ) async throws -> MadeEdits {
        try await defaults.retrying {
            do {
                let snapshot =
                    isCompared ? try await DomainSnapshot(of: keys, in: domain, defaults) : nil
                let transaction = try await transaction(on: defaults, against: snapshot)
                let generation = try await defaults.apply(transaction, in: domain)
                return MadeEdits(
                    domain: domain, line: line, generation: generation,
                    removals: Set(transaction.removals),
                    replaced: snapshot?.valuesReplaced(by: transaction) ?? [:])
            } catch let error as DefaultsError where error.code == .conflict {
                // If the user's own expectation does not hold, trying again does not help.
                do {
                    try await checkExpectations(of: keys, with: defaults)
                } catch let error as DefaultsError where error.code == .conflict {
                    throw Unexpected(conflict: error)
                }
                throw error
            }
        }
    }

    /// Makes the transaction that applies the edits to the current values.
    ///
    /// - Parameter snapshot: The values that were read before, which must still be there. If it is
    ///   nil, only values that an edit is based on must still be there.
    private func transaction(
        on defaults: RemoteDefaults, against snapshot: DomainSnapshot?
    ) async throws -> DefaultsTransaction {
        var transaction = DefaultsTransaction()
        transaction.isDurable = isDurable
        transaction.expected = (snapshot?.expected ?? [:]).merging(expected) { $1 }
        for key in keys {
            switch edits[key] {
            case .set(let archive): transaction.set(key, to: archive)
            case .remove: transaction.remove(key)
            case .change(let change):
                let (archive, generation) = try await defaults.archiveIfThere(
                    forKey: key, in: domain)
                do {
                    transaction.set(key, to: try change(archive))
                } catch is Edit.NothingThere {
                    throw KeyFailure(key: key, reason: await defaults.noPair(domain, key))
                } catch {
                    throw KeyFailure(key: key, reason: error)
                }
                transaction.expected[key] = expected[key] ?? generation
            case nil: break
            }
        }
        let bytes = transaction.values.reduce(0) { $0 + $1.archive.bytes.count + $1.key.utf8.count }
        guard bytes <= Self.mostBytes else {
            throw ToolError.changeTooLarge(domain, bytes, most: Self.mostBytes)
        }
        return transaction
    }
}

/// A conflict with a generation that the user has given.
struct Unexpected: Error {
    let conflict: DefaultsError
}

/// The keys of a domain at one moment.
private struct DomainSnapshot {
    /// What must still hold when the change is made, so that it replaces these values.
    let expected: [String: UInt64]
    private let values: [String: KeyedArchive]

    /// If there are more keys than this, the whole domain is read.
    private static let mostSingleKeys = 64

    init(of keys: [String], in domain: String, _ defaults: RemoteDefaults) async throws {
        guard keys.count <= Self.mostSingleKeys else {
            let (entries, generation) = try await defaults.entries(in: domain)
            values = Dictionary(entries.map { ($0.key, $0.archive) }) { first, _ in first }
            // A domain without keys has no generation.
            expected = ["": entries.isEmpty ? 0 : generation]
            return
        }
        var (values, expected): ([String: KeyedArchive], [String: UInt64]) = ([:], [:])
        for key in keys {
            let (archive, generation) = try await defaults.archiveIfThere(forKey: key, in: domain)
            values[key] = archive
            expected[key] = generation
        }
        (self.values, self.expected) = (values, expected)
    }

    /// The keys that a transaction sets to a different value or removes, each with its value
    /// before.
    func valuesReplaced(by transaction: DefaultsTransaction) -> [String: KeyedArchive?] {
        var replaced: [String: KeyedArchive?] = [:]
        for (key, archive) in transaction.values
        where !(values[key]?.isSame(as: archive) ?? false) {
            replaced.updateValue(values[key], forKey: key)
        }
        for key in transaction.removals {
            if let archive = values[key] { replaced.updateValue(archive, forKey: key) }
        }
        return replaced
    }
}

/// Edits of a domain that have been made.
struct MadeEdits {
    let domain: String
    /// The line of a document that first names the domain.
    let line: Int
    fileprivate let generation: UInt64
    fileprivate let removals: Set<String>
    /// The keys that have changed, each with its value before; nil if there was none.
    fileprivate let replaced: [String: KeyedArchive?]

    /// Whether anything has changed, if that was compared.
    var isChanged: Bool { !replaced.isEmpty }

    /// Restores the values before, unless another program has changed them meanwhile.
    func undo(on defaults: RemoteDefaults) async throws {
        guard isChanged else { return }
        var transaction = DefaultsTransaction()
        for (key, archive) in replaced {
            if let archive { transaction.set(key, to: archive) } else { transaction.remove(key) }
            transaction.expected[key] = removals.contains(key) ? 0 : generation
        }
        do {
            try await defaults.apply(transaction, in: domain)
        } catch let error as DefaultsError where error.code == .limitsExceeded {
            // The domain may have been above a bound before. An older service does not know the option.
            transaction.isUndo = true
            try await defaults.apply(transaction, in: domain)
        }
    }
}

/// The change of the value of one key.
enum Edit {
    case set(KeyedArchive)
    case remove
    /// Makes the new value from the current one; its argument is nil if there is none.
    case change((KeyedArchive?) throws -> KeyedArchive)

    /// There is no value that has parts to change.
    struct NothingThere: Error {}

    /// The edit that sets a value, or a part of it.
    static func setting(_ path: ValuePath?, to value: KeyedArchive) -> Edit {
        guard let path else { return .set(value) }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            return try archive.setting(path, to: value)
        }
    }

    /// The edit that removes a key, or a part of its value.
    ///
    /// - Parameter isLenient: Whether removing a missing part counts as success.
    static func removing(_ path: ValuePath?, isLenient: Bool = false) -> Edit {
        guard let path else { return .remove }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            do throws(ValuePathError) {
                return try archive.removing(path)
            } catch {
                guard isLenient, error.code == .notFound else { throw error }
                return archive
            }
        }
    }

    /// The edit that makes this one and then the next.
    func followed(by next: Edit) -> Edit {
        guard case .change(let change) = next else { return next }
        return switch self {
        case .set(let archive): .change { _ in try change(archive) }
        case .remove: .change { _ in try change(nil) }
        case .change(let first): .change { try change(first($0)) }
        }
    }
}
