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
    fileprivate private(set) var keys: [String] = []
    /// The generations that the user expects keys to have.
    private var expected: [String: UInt64] = [:]

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
        if case .set(let write) = edit, write.value.bytes.count > ContractLimits.maximumValueSize {
            throw .valueTooLarge(key, write.value.bytes.count)
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
    /// The keys that have a value afterwards.
    var keysWithValues: [String] {
        keys.filter { key in
            if case .remove = edits[key] { false } else { true }
        }
    }

    /// The error of the edit of one key.
    struct KeyFailure: Error {
        let domain: String
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
            throw KeyFailure(domain: domain, key: locked.key, reason: locked)
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
                return KeyFailure(domain: domain, key: key, reason: error)
            }
        }
        return nil
    }

    /// Has the service compare generations, with a transaction that changes nothing.
    fileprivate func checkExpectations(
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
    /// - Parameter isCompared: Whether to find out what was changed. If so, the current values are
    ///   read first, and the change depends on them.
    /// - Returns: Whether anything was changed, if that was compared.
    /// - Throws: ``Unexpected`` if a key does not have the expected generation.
    @discardableResult
    func apply(
        to defaults: RemoteDefaults, comparing isCompared: Bool = false
    ) async throws -> Bool {
        try await [self].apply(to: defaults, isDurable: isDurable, comparing: isCompared)
    }

    /// Makes the transaction that applies the edits to the current values.
    ///
    /// - Parameter snapshot: The values that were read before, which must still be there. If it is
    ///   nil, only values that an edit is based on must still be there.
    fileprivate func transaction(
        on defaults: RemoteDefaults, against snapshot: DomainSnapshot?
    ) async throws -> DefaultsTransaction {
        var transaction = DefaultsTransaction()
        transaction.isDurable = isDurable
        transaction.expected = (snapshot?.expected ?? [:]).merging(expected) { $1 }
        for key in keys {
            switch edits[key] {
            case .remove: transaction.remove(key)
            case .set(let write):
                do {
                    transaction.set(
                        key, to: try await write.fitted(to: key, in: domain, of: defaults))
                } catch {
                    throw KeyFailure(domain: domain, key: key, reason: error)
                }
            case .change(let change):
                let (archive, generation) = try await defaults.archiveIfThere(
                    forKey: key, in: domain)
                do {
                    transaction.set(key, to: try change(archive))
                } catch is Edit.NothingThere {
                    throw KeyFailure(
                        domain: domain, key: key, reason: await defaults.noPair(domain, key))
                } catch {
                    throw KeyFailure(domain: domain, key: key, reason: error)
                }
                transaction.expected[key] = expected[key] ?? generation
            case nil: break
            }
        }
        return transaction
    }
}

extension [DomainEdits] {
    /// Makes the edits of all domains as one change.
    ///
    /// If another program changes a value meanwhile, the edits are repeated on the new value, so no
    /// change is lost.
    ///
    /// - Returns: Whether anything was changed, if that was compared.
    /// - Throws: ``Unexpected`` if a key does not have the expected generation.
    func apply(
        to defaults: RemoteDefaults, isDurable: Bool, comparing isCompared: Bool
    ) async throws -> Bool {
        try await defaults.retrying {
            do {
                return try await attempt(on: defaults, isDurable, isCompared)
            } catch let error as DefaultsError where error.code == .conflict {
                // If the user's own expectation does not hold, trying again does not help.
                for edits in self {
                    do {
                        try await edits.checkExpectations(of: edits.keys, with: defaults)
                    } catch let error as DefaultsError where error.code == .conflict {
                        throw Unexpected(conflict: error)
                    }
                }
                throw error
            }
        }
    }

    private func attempt(
        on defaults: RemoteDefaults, _ isDurable: Bool, _ isCompared: Bool
    ) async throws -> Bool {
        var transactions: [(domain: String, transaction: DefaultsTransaction)] = []
        var (isChanged, bytes) = (false, 0)
        for edits in self {
            let snapshot =
                isCompared
                ? try await DomainSnapshot(of: edits.keys, in: edits.domain, defaults) : nil
            let transaction = try await edits.transaction(on: defaults, against: snapshot)
            isChanged = isChanged || snapshot?.differs(from: transaction) ?? false
            bytes += transaction.values.reduce(0) {
                $0 + $1.archive.bytes.count + $1.key.utf8.count
            }
            guard bytes <= RemoteDefaults.mostBytesOfChange else {
                throw ToolError.changeTooLarge(
                    edits.domain, bytes, most: RemoteDefaults.mostBytesOfChange)
            }
            transactions.append((edits.domain, transaction))
        }
        do {
            if transactions.count == 1 {
                transactions[0].transaction.isDurable = isDurable
                try await defaults.apply(transactions[0].transaction, in: transactions[0].domain)
            } else {
                try await defaults.applyAll(transactions, isDurable: isDurable)
            }
        } catch {
            throw LostAnswer(error, advice: "Look before you make it again.") ?? error
        }
        return isChanged
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

    /// Whether a transaction sets a key to a different value or removes one.
    func differs(from transaction: DefaultsTransaction) -> Bool {
        transaction.values.contains { !(values[$0.key]?.isSame(as: $0.archive) ?? false) }
            || transaction.removals.contains { values[$0] != nil }
    }
}

/// The change of the value of one key.
enum Edit {
    /// Sets the value, with the exact type that the current value has.
    case set(TypedWrite)
    case remove
    /// Makes the new value from the current one; its argument is nil if there is none.
    case change((KeyedArchive?) throws -> KeyedArchive)

    /// There is no value that has parts to change.
    struct NothingThere: Error {}

    /// The edit that sets a value, or a part of it.
    ///
    /// - Parameters:
    ///   - isBare: Whether the value is a word without a type. It is then read as the exact type that
    ///     the current value has, or as the type of the schema.
    ///   - schema: What an installed schema demands of the key.
    static func setting(
        _ path: ValuePath?, to value: KeyedArchive, isBare: Bool = false,
        for schema: SchemaDemand? = nil
    ) -> Edit {
        guard let path else {
            return .set(TypedWrite(value: value, isBare: isBare, schema: schema))
        }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            return try archive.changingShown {
                if isBare {
                    let current = try? $0.value(at: path)
                    BareWord.remark(on: value, replacing: current, of: path.description)
                }
                return try $0.setting(path, to: value)
            }
        }
    }

    /// The edit that removes a key, or a part of its value.
    ///
    /// - Parameter isLenient: Whether removing a missing part counts as success.
    static func removing(_ path: ValuePath?, isLenient: Bool = false) -> Edit {
        guard let path else { return .remove }
        return .change { archive in
            guard let archive else { throw NothingThere() }
            do {
                return try archive.changingShown { try $0.removing(path) }
            } catch let error as ValuePathError where isLenient && error.code == .notFound {
                return archive
            }
        }
    }

    /// The edit that makes this one and then the next.
    func followed(by next: Edit) -> Edit {
        guard case .change(let change) = next else { return next }
        return switch self {
        case .set(let write): .change { try change(write.value(replacing: $0)) }
        case .remove: .change { _ in try change(nil) }
        case .change(let first): .change { try change(first($0)) }
        }
    }
}
