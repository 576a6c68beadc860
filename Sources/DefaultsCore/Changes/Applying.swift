import DefaultsModel
package import DefaultsProtocol
import DefaultsStorage
package import KeyedArchive

/// Transactions: changes of several keys at once.
extension Settings {
    /// Makes a transaction.
    ///
    /// - Throws: The errors of ``change(_:by:_:then:)``, `Locked`, and `Conflict`.
    package func apply(
        _ request: PreparedTransaction, by caller: Caller,
        then reply: @escaping (Outcome) -> Void
    ) throws {
        memory.noteWork(onEntries: request.parts.reduce(0) { $0 + $1.keys.count })
        // A transaction of no domains changes nothing.
        guard let first = request.parts.first?.transaction.domain else {
            return confirm(store.generation, isDurable: request.isDurable, then: reply)
        }
        // A repeated transaction has succeeded before, so later locks do not matter.
        for part in request.parts {
            try locks.checkLayer(
                part.transaction.domain, listing: request.listsLocked ? part.named : [])
        }
        let assignments = try request.parts.map { try $0.assignments.get() }
        if let token = request.token,
            let generation = try store.database.outcome(of: token, in: first)
        {
            return confirm(generation, isDurable: request.isDurable, then: reply)
        }
        try locks.checkWritable(
            request.parts.map { ($0.transaction.domain, $0.named) }, isListed: request.listsLocked)
        let proposals = try zip(request.parts, assignments).map { part, assignments in
            let isFirst = part.transaction.domain == first
            return try proposal(
                part, assignments, token: isFirst ? request.token : nil,
                keepsTypes: !request.isUndo, origin: caller.origin)
        }
        guard proposals.contains(where: { !$0.changesNothing }) else {
            if let token = request.token { try remember(token, of: first, for: caller) }
            return confirm(store.generation, isDurable: request.isDurable, then: reply)
        }
        try change(
            proposals.filter { !$0.changesNothing || $0.token != nil }, by: caller,
            ChangeOptions(
                isDurable: request.isDurable, isUndo: request.isUndo, sponsor: request.sponsor),
            then: reply)
    }

    /// What one part of a transaction would change now.
    ///
    /// - Throws: `Conflict`.
    private func proposal(
        _ part: PreparedTransaction.Part, _ assignments: [(key: Key, archive: KeyedArchive)],
        token: Token?, keepsTypes: Bool, origin: String
    ) throws -> ChangeProposal {
        let transaction = part.transaction
        let domain = transaction.domain
        if let conflict = try store.database.firstConflict(of: transaction.expected, in: domain) {
            throw ContractError(conflict, in: domain, on: store.hosts)
        }
        return ChangeProposal(
            domain: domain,
            set: try assignments.compactMap { key, archive in
                try replacement(for: key, in: domain, by: archive, keepsType: keepsTypes)
                    .map { .init(key: key, archive: $0.bytes) }
            },
            removed: try transaction.removed.filter {
                try store.database.generation(domain, $0) != nil
            },
            token: token, origin: origin)
    }
}

/// A transaction of one domain or several, whose archives have been validated.
package struct PreparedTransaction: Sendable {
    /// What is to change in one domain.
    struct Part: Sendable {
        let transaction: Transaction
        /// The keys to set.
        let keys: [Key]
        /// The archives by their keys, or why one is invalid.
        ///
        /// An error in the layer is reported first.
        let assignments: Result<[(key: Key, archive: KeyedArchive)], any Error>

        /// The keys to set and to remove.
        var named: [Key] { keys + transaction.removed }
    }

    let parts: [Part]
    /// The token, which belongs to the first domain.
    let token: Token?
    /// Whether the reply waits for the disk.
    let isDurable: Bool
    /// Whether it takes back an earlier change.
    let isUndo: Bool
    /// Whether the error for locked keys has all of them.
    let listsLocked: Bool
    /// On whose behalf it is made, for the history.
    let sponsor: ChangeSponsor?

    /// - Parameter archive: Makes an archive from the content in the call.
    /// - Throws: `ModelError` if the parts of the transaction contradict each other.
    package init<Content>(
        _ arguments: TransactionArguments<CheckedNames, Content>,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        try self.init([arguments], arguments.options, archive: archive)
    }

    /// The same for several domains.
    package init<Content>(
        _ arguments: JointArguments<CheckedNames, Content>,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        var domains: Set<Domain> = []
        for part in arguments.parts where !domains.insert(part.domain).inserted {
            throw ContractError(domainTwice: part.domain.name)
        }
        try self.init(arguments.parts, arguments.options, archive: archive)
    }

    private init<Content>(
        _ arguments: [TransactionArguments<CheckedNames, Content>],
        _ options: TransactionOptions<CheckedNames>, archive: (Content) throws -> KeyedArchive
    ) throws {
        parts = try arguments.map {
            try Part($0, unchangedSince: options.unchangedSince, archive: archive)
        }
        token = options.token
        isDurable = options.isDurable
        isUndo = options.isUndo
        listsLocked = options.listsLocked
        sponsor = options.sponsor
    }
}

extension PreparedTransaction.Part {
    fileprivate init<Content>(
        _ arguments: TransactionArguments<CheckedNames, Content>, unchangedSince: UInt64?,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        keys = arguments.set.map(\.0)
        transaction = try Transaction(
            domain: arguments.domain, set: keys, removed: arguments.removed,
            expected: arguments.expected, unchangedSince: unchangedSince)
        assignments = Result {
            try arguments.set.map { key, content in
                (key: key, archive: try Self.naming(key) { try archive(content) })
            }
        }
    }

    /// Adds the key to the error of an invalid archive.
    private static func naming(
        _ key: Key, _ archive: () throws -> KeyedArchive
    ) throws -> KeyedArchive {
        do {
            return try archive()
        } catch let error as ArchiveError {
            throw ContractError(ContractError(error), of: key)
        } catch let error as ContractError {
            throw ContractError(error, of: key)
        }
    }
}
