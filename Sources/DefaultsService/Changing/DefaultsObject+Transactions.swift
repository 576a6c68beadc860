import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

/// Changes of several keys at once.
extension DefaultsObject {
    /// How many keys of a removed domain are named, one by one, in the record of changes.
    private static let longestNamedRemoval = 1024

    func apply(_ call: MethodCall) throws {
        let request = try call.arguments { arguments in
            try TransactionRequest(from: &arguments, on: hosts) { try archiveBytes(from: &$0) }
        }
        try apply(request, for: call) { try KeyedArchive(validating: $0) }
    }

    func applyValues(_ call: MethodCall) throws {
        let request = try call.arguments { arguments in
            var remaining = Limits.maximumValueCount
            return try TransactionRequest(from: &arguments, on: hosts) { value in
                try value.readVariant {
                    try VariantForm.readArchive(from: &$0, remaining: &remaining)
                }
            }
        }
        try apply(request, for: call) { archive in
            guard archive.bytes.count <= Limits.maximumValueSize else {
                throw DefaultsError(tooLargeArchive: archive.bytes.count)
            }
            return archive
        }
    }

    func removeDomain(_ call: MethodCall) throws {
        let domain = try call.arguments { try self.domain(from: &$0) }
        try checkWritable(domain, database.keys(of: domain))
        guard let change = try removal(of: domain, by: origin(of: call)) else {
            return try conclude(call, at: database.generation)
        }
        try conclude(call, with: commit(change))
    }

    /// The change that removes all keys of a domain; nil where it has none.
    func removal(of domain: Domain, by origin: String) throws -> ChangeProposal? {
        guard try database.totals(of: domain).keys <= Self.longestNamedRemoval else {
            return ChangeProposal(clearing: domain, origin: origin)
        }
        let keys = try database.countedKeys(of: domain)
        return keys.isEmpty
            ? nil : ChangeProposal(domain: domain, removed: keys, origin: origin)
    }

    private func apply<Content>(
        _ request: TransactionRequest<Content>, for call: MethodCall,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        noteWork(onEntries: request.set.count)
        let transaction = try request.transaction()
        let domain = transaction.domain
        // What was done under this name before is done, whatever is locked by now.
        try checkWritable(domain, [])
        let assignments = try request.set.map { (key, content) in
            (key: key, archive: try naming(key) { try archive(content) })
        }
        if let token = transaction.token,
            let generation = try database.outcome(of: token, in: domain)
        {
            return try conclude(call, at: generation, isDurable: request.isDurable)
        }
        try checkWritable(domain, request.set.map(\.key) + transaction.removed)
        if let conflict = try database.firstConflict(of: transaction.expected, in: domain) {
            throw DefaultsError(conflict, in: domain, on: hosts)
        }
        let proposal = ChangeProposal(
            domain: domain,
            set: try assignments.filter { try differs(domain, $0.key, from: $0.archive) }
                .map { .init(key: $0.key, archive: $0.archive.bytes) },
            removed: try transaction.removed.filter {
                try database.generation(domain, $0) != nil
            },
            token: transaction.token, origin: origin(of: call))
        guard !proposal.changesNothing else {
            if let token = transaction.token { try remember(token, of: domain) }
            return try conclude(call, at: database.generation, isDurable: request.isDurable)
        }
        try conclude(call, with: commit(proposal), isDurable: request.isDurable)
    }

    /// Says which of several keys an archive that is refused was for.
    private func naming(_ key: Key, _ archive: () throws -> KeyedArchive) throws -> KeyedArchive {
        do {
            return try archive()
        } catch let error as ArchiveError {
            throw DefaultsError(DefaultsError(error), of: key)
        } catch let error as DefaultsError {
            throw DefaultsError(error, of: key)
        }
    }
}
