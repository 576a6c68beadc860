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
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.Apply.readArguments(from: &arguments, by: names)
            ) { try KeyedArchive(validating: $0) }
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    func applyValues(_ call: MethodCall) throws {
        try prepare(call) { arguments, names in
            try PreparedTransaction(
                Contract.ApplyValues.readArguments(from: &arguments, by: names)
            ) { archive in
                try DefaultsError.checkSize(of: archive)
                return archive
            }
        } then: {
            try $0.apply($2, for: $1)
        }
    }

    func removeDomain(_ call: MethodCall) throws {
        let domain = try call.arguments {
            try Contract.RemoveDomain.readArguments(from: &$0, by: names)
        }
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

    private func apply(_ request: PreparedTransaction, for call: MethodCall) throws {
        let transaction = request.transaction
        noteWork(onEntries: request.keys.count)
        let domain = transaction.domain
        // What was done under this name before is done, whatever is locked by now.
        try checkWritable(domain, [])
        let assignments = try request.assignments.get()
        if let token = transaction.token,
            let generation = try database.outcome(of: token, in: domain)
        {
            return try conclude(call, at: generation, isDurable: request.isDurable)
        }
        try checkWritable(domain, request.keys + transaction.removed)
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
}
