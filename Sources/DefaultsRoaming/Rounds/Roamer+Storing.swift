import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import SQLite
import RoamingTerms

/// Storing what others have changed.
extension Roamer {
    /// Stores the arrivals for which there is no edit, in changes of a size that the daemon takes.
    ///
    /// - Returns: How many were stored, and the domains in which a key was changed meanwhile.
    func storeArrivalsOnce() async throws -> (stored: Int, outdated: Set<String>) {
        var (stored, outdated) = (0, Set<String>())
        for domain in try state.domainsOfArrivals() {
            // A domain that was not scanned yet may have an edit.
            if try state.generations(of: domain) == nil { try await scan(domain) }
            var last: String?
            while true {
                let part = try state.arrivals(in: domain, after: last, limit: Self.largestBytes)
                guard let end = part.last else { break }
                last = end.version.key.name
                guard try await storeByMachines(different(part), in: domain) else {
                    outdated.insert(domain)
                    break
                }
                stored += part.count
            }
        }
        return (stored, outdated)
    }

    /// Stores versions in one change for each machine that has made them, so that the history can name it.
    ///
    /// - Returns: False if a key was changed since the domain was looked at.
    private func storeByMachines(_ arrivals: [Arrival], in domain: String) async throws -> Bool {
        let groups = Dictionary(grouping: arrivals, by: \.version.replica)
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
            guard try await store(group, in: domain) else { return false }
        }
        return true
    }

    /// Notes the arrivals whose value is here already.
    ///
    /// - Returns: The others.
    private func different(_ arrivals: [Arrival]) throws -> [Arrival] {
        var others: [Arrival] = []
        try state.take(replica) { () throws(SQLiteError) in
            for arrival in arrivals {
                let base = try state.base(of: arrival.version.key)
                if base?.digest == ValueDigest(of: arrival.version.archive) {
                    try state.store(arrival.version)
                } else {
                    others.append(arrival)
                }
            }
        }
        return others
    }

    /// Stores versions of one machine in one change, which is on disk then.
    ///
    /// - Returns: False if a key was changed since the domain was looked at.
    private func store(_ arrivals: [Arrival], in domain: String) async throws -> Bool {
        guard let first = arrivals.first, let known = try state.generations(of: domain) else {
            return true
        }
        var transaction = DefaultsTransaction()
        for version in arrivals.map(\.version) {
            if let archive = version.archive {
                transaction.set(version.key.name, to: try KeyedArchive(validating: archive))
            } else {
                transaction.remove(version.key.name)
            }
        }
        let token = "roam-\(ReplicaID.random())"
        transaction.token = token
        transaction.isDurable = true
        transaction.listsLockedKeys = true
        transaction.unchangedSince = known.looked
        transaction.sponsor = await sponsor(for: first.version.replica)
        try state.begin(token, storing: arrivals)
        try await beforeStep("storing")
        do {
            let generation = try await defaults.apply(transaction, in: domain)
            try await beforeStep("stored")
            try state.noteDurable(upTo: generation)
            try state.end(token, isMade: true)
            return true
        } catch let error as DefaultsError {
            switch error.code {
            case .conflict:
                try state.end(token, isMade: false)
                return false
            case .locked, .tooLarge, .refused, .limitsExceeded:
                try state.end(token, isMade: false)
                return try await storeOthers(of: arrivals, in: domain, after: error)
            default:
                // It may have been made.
                throw error
            }
        }
    }

    /// Who is behind a change that stores what a machine has made.
    private func sponsor(for writer: ReplicaID) async -> ChangeSponsor {
        ChangeSponsor(kind: .roam, machine: writer == replica.id ? "" : await name(of: writer))
    }

    /// Stores what the daemon does not refuse.
    private func storeOthers(
        of arrivals: [Arrival], in domain: String, after error: DefaultsError
    ) async throws -> Bool {
        let locked = Set(error.lockedKeys[domain] ?? [])
        func isRefused(_ arrival: Arrival) -> Bool {
            arrivals.count == 1 || locked.contains(arrival.version.key.name)
        }
        let refused = arrivals.filter(isRefused)
        try state.note(obstacle: error.message, ofArrivals: refused.map(\.version.key))
        let others = arrivals.filter { !isRefused($0) }
        guard refused.isEmpty else { return try await store(others, in: domain) }
        // The daemon does not say which one it is.
        var areUpToDate = true
        for arrival in others where try await !store([arrival], in: domain) { areUpToDate = false }
        return areUpToDate
    }
}

extension Version {
    /// Why nobody can use it; nil if it is as the project writes it.
    var fault: String? {
        if !DomainRule.allows(key.domain) { return "its domain is not the name of a domain" }
        if !KeyRule.allows(key.name) { return "its key is not the name of a key" }
        guard let archive else { return nil }
        if archive.count > RoamTerms.largestValue {
            return "its value has \(archive.count) bytes, which is too much"
        }
        do {
            _ = try KeyedArchive(validating: archive)
            return nil
        } catch {
            return "its value is no keyed archive: \(error)"
        }
    }
}
