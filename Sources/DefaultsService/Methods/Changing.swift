import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

/// Methods that change one key.
extension DefaultsObject {
    /// The methods that change something, and the one that waits until changes are on disk.
    var changingMethods: [Method] {
        [
            method(Contract.Set.self) { try $0.set($1) },
            method(Contract.SetValue.self) { try $0.setValue($1) },
            method(Contract.Remove.self) { try $0.remove($1) },
            method(Contract.Rename.self) { try $0.rename($1) },
            method(Contract.RemoveDomain.self) { try $0.removeDomain($1) },
            method(Contract.Apply.self) { try $0.apply($1) },
            method(Contract.ApplyValues.self) { try $0.applyValues($1) },
            method(Contract.ApplyAll.self) { try $0.applyAll($1) },
            method(Contract.ApplyAllValues.self) { try $0.applyAllValues($1) },
            method(Contract.Synchronize.self) { $0.synchronize($1) },
        ]
    }

    private func set(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            let (domain, key, bytes) = try Contract.Set.readArguments(from: &arguments, by: names)
            return (domain: domain, key: key, archive: try KeyedArchive(storing: bytes))
        } then: {
            try $0.set($2.domain, $2.key, to: $2.archive, for: $1)
        }
    }

    private func setValue(_ call: MethodCall) throws {
        try prepare(call) {
            try Contract.SetValue.readArguments(from: &$0, by: $1)
        } then: {
            try $0.set($2.domain, $2.key, to: $2.archive, for: $1)
        }
    }

    private func synchronize(_ call: MethodCall) {
        waitUntilDurable { outcome in
            // The call stays on this thread.
            nonisolated(unsafe) let call = call
            Task(executorPreference: self.connection.loop) {
                await self.signalsSent()
                switch outcome {
                case .success(let generation):
                    // If the reply cannot be sent, the caller has got an error instead, or has left.
                    try? call.reply {
                        try Contract.Synchronize.writeReply(generation.rawValue, to: &$0)
                    }
                case .failure(let error):
                    call.fail(ContractError(notDurable: error))
                }
            }
        }
    }

    /// Reads the arguments of a change and makes archives from them, on another thread if they are
    /// large, and continues on the loop.
    ///
    /// - Parameter isSlow: Whether it takes long even if they are small.
    func prepare<Arguments: Sendable>(
        _ call: MethodCall, isSlow: Bool = false,
        _ read: @escaping @Sendable (inout MessageReader, CheckedNames) throws -> Arguments,
        then change:
            @escaping @Sendable (isolated DefaultsObject, MethodCall, Arguments) throws -> Void
    ) throws {
        let names = changingNames(for: call)
        guard isSlow || call.size > Lanes.fewBytes else {
            return try change(self, call, call.arguments { try read(&$0, names) })
        }
        try runOnLane(call, in: .conversions) { detached in
            try detached.arguments { try read(&$0, names) }
        } then: { object, call, _, arguments in
            try change(object, call, arguments)
        }
    }

    private func remove(_ call: MethodCall) throws {
        let (domain, key) = try call.arguments {
            try Contract.Remove.readArguments(from: &$0, by: changingNames(for: call))
        }
        try checkWritable(domain, [key])
        guard try database.generation(domain, key) != nil else {
            return try answer(call, at: database.generation)
        }
        let change = ChangeProposal(domain: domain, removed: [key], origin: origin(of: call))
        try make(change, for: call)
    }

    private func rename(_ call: MethodCall) throws {
        let (domain, old, new) = try call.arguments {
            try Contract.Rename.readArguments(from: &$0, by: changingNames(for: call))
        }
        try checkWritable(domain, [old, new])
        guard let stored = try database.value(domain, old) else {
            throw ContractError(noKey: old, in: domain, on: hosts)
        }
        guard try database.generation(domain, new) == nil else {
            throw ContractError(renaming: old, to: new, in: domain, on: hosts)
        }
        let change = ChangeProposal(
            domain: domain, set: [.init(key: new, archive: stored.archive)], removed: [old],
            origin: origin(of: call))
        try make(change, for: call)
    }

    private func set(
        _ domain: Domain, _ key: Key, to archive: KeyedArchive, for call: MethodCall
    ) throws {
        try checkWritable(domain, [key])
        guard let archive = try replacement(for: key, in: domain, by: archive) else {
            return try answer(call, at: database.generation)
        }
        let change = ChangeProposal(
            domain: domain, set: [.init(key: key, archive: archive.bytes)], origin: origin(of: call)
        )
        try make(change, for: call)
    }
}

/// Helpers for all changes.
extension DefaultsObject {
    /// The bus name of the writer of a change, or the name of its connection without a bus.
    ///
    /// This also looks up the program, which is possible while the caller waits.
    func origin(of call: MethodCall) -> String {
        let origin = call.sender?.string ?? call.connection.peerName
        writers.identify(origin) { call.credentials?.processID.map(examiner.writer(in:)) }
        return origin
    }

    /// The largest archives whose object graphs are compared, in bytes: 256 KiB take some
    /// hundredths of a second.
    private static let largestCompared = 256 << 10

    /// Whether the key has no value or a different one.
    ///
    /// "The same value" is defined in `Documentation/guarantees.md`, under "Changes".
    func differs(_ domain: Domain, _ key: Key, from archive: KeyedArchive) throws -> Bool {
        try replacement(for: key, in: domain, by: archive, keepsType: false) != nil
    }

    /// What to store so that a key has a value; nil if it has the same one.
    ///
    /// - Parameter keepsType: Whether the value gets the exact type of the present one, because who sets it
    ///   may not know the type.
    private func replacement(
        for key: Key, in domain: Domain, by archive: KeyedArchive, keepsType: Bool = true
    ) throws -> KeyedArchive? {
        let stored: StoredValue?
        do throws(StorageError) {
            stored = try database.value(domain, key)
        } catch {
            // A value that cannot be read counts as different, and this change replaces it.
            guard error.code == .damagedRow else { throw error }
            return archive
        }
        guard let stored else {
            return keepsType ? typed(archive, for: key, in: domain) : archive
        }
        if stored.archive == archive.bytes { return nil }
        if max(stored.archive.count, archive.bytes.count) > Self.largestCompared { return archive }
        // A stored archive that is invalid by now counts as different, too.
        guard let current = try? KeyedArchive(validating: stored.archive) else { return archive }
        let new =
            keepsType
            ? archive.keepingType(of: current) { hasSettings(domain) } : archive
        return current.isSame(as: new) ? nil : new
    }
}

extension DefaultsObject {
    /// A first value for this machine, with the exact type of the value for all machines.
    private func typed(_ archive: KeyedArchive, for key: Key, in domain: Domain) -> KeyedArchive {
        guard case .host = domain.layer, archive.bytes.count <= Self.largestCompared,
            let all = try? Domain(name: domain.name, layer: .domain),
            let stored = try? database.value(all, key),
            stored.archive.count <= Self.largestCompared,
            let former = try? KeyedArchive(validating: stored.archive)
        else { return archive }
        return archive.keepingType(of: former) { hasSettings(all) }
    }
}

/// Methods that change several keys at once.
extension DefaultsObject {
    /// Up to this many keys, the removal of a domain names each of them in the record of changes.
    private static let longestNamedRemoval = 1024

    private func apply(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.Apply.readArguments(from: &arguments, by: names),
                archive: { try KeyedArchive(storing: $0) })
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    private func applyValues(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.ApplyValues.readArguments(from: &arguments, by: names),
                archive: ContractError.checkedSize(of:))
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    private func applyAll(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.ApplyAll.readArguments(from: &arguments, by: names),
                archive: { try KeyedArchive(storing: $0) })
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    private func applyAllValues(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.ApplyAllValues.readArguments(from: &arguments, by: names),
                archive: ContractError.checkedSize(of:))
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    private func removeDomain(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.RemoveDomain.readArguments(from: &$0, by: changingNames(for: call))
        }
        try checkWritable(domain, database.keys(of: domain))
        guard let change = try removal(of: domain, by: origin(of: call)) else {
            return try answer(call, at: database.generation)
        }
        try make(change, for: call)
    }

    /// The change that removes all keys of a domain; nil if it has none.
    func removal(of domain: Domain, by origin: String) throws -> ChangeProposal? {
        guard try database.totals(of: domain).keys <= Self.longestNamedRemoval else {
            return ChangeProposal(clearing: domain, origin: origin)
        }
        let keys = try database.keysCheckedAgainstCount(of: domain)
        return keys.isEmpty
            ? nil : ChangeProposal(domain: domain, removed: keys, origin: origin)
    }

    private func apply(_ request: PreparedTransaction, for call: MethodCall) throws {
        memory.noteWork(onEntries: request.parts.reduce(0) { $0 + $1.keys.count })
        // A transaction of no domains changes nothing.
        guard let first = request.parts.first?.transaction.domain else {
            return try answer(call, at: database.generation, isDurable: request.isDurable)
        }
        // A repeated transaction has succeeded before, so later locks do not matter.
        for part in request.parts {
            try checkLayer(
                part.transaction.domain, listing: request.listsLocked ? part.named : [])
        }
        let assignments = try request.parts.map { try $0.assignments.get() }
        if let token = request.token, let generation = try database.outcome(of: token, in: first) {
            return try answer(call, at: generation, isDurable: request.isDurable)
        }
        try checkWritable(
            request.parts.map { ($0.transaction.domain, $0.named) }, isListed: request.listsLocked)
        let origin = origin(of: call)
        let proposals = try zip(request.parts, assignments).map { part, assignments in
            let isFirst = part.transaction.domain == first
            return try proposal(
                part, assignments, token: isFirst ? request.token : nil,
                keepsTypes: !request.isUndo, origin: origin)
        }
        guard proposals.contains(where: { !$0.changesNothing }) else {
            if let token = request.token { try remember(token, of: first, for: call) }
            return try answer(call, at: database.generation, isDurable: request.isDurable)
        }
        try make(
            proposals.filter { !$0.changesNothing || $0.token != nil }, for: call,
            isDurable: request.isDurable, isUndo: request.isUndo)
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
        if let conflict = try database.firstConflict(of: transaction.expected, in: domain) {
            throw ContractError(conflict, in: domain, on: hosts)
        }
        return ChangeProposal(
            domain: domain,
            set: try assignments.compactMap { key, archive in
                try replacement(for: key, in: domain, by: archive, keepsType: keepsTypes)
                    .map { .init(key: key, archive: $0.bytes) }
            },
            removed: try transaction.removed.filter {
                try database.generation(domain, $0) != nil
            },
            token: token, origin: origin)
    }
}

/// A transaction of one domain or several, whose archives have been validated.
struct PreparedTransaction: Sendable {
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

    /// - Parameter archive: Makes an archive from the content in the call.
    /// - Throws: `ModelError` if the parts of the transaction contradict each other.
    init<Content>(
        _ arguments: TransactionArguments<CheckedNames, Content>,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        try self.init([arguments], arguments.options, archive: archive)
    }

    /// The same for several domains.
    init<Content>(
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

extension ContractError {
    /// An archive that is not above the size limit.
    fileprivate static func checkedSize(of archive: KeyedArchive) throws -> KeyedArchive {
        try checkSize(of: archive)
        return archive
    }
}
