extension PendingOverlay {
    /// What is pending as changes again, in the order of their generations, without what later
    /// changes have replaced.
    ///
    /// The writers' bus names are not kept.
    public var changeSets: [ChangeSet] {
        var parts: [Generation: Parts] = [:]
        for domain in domains {
            for (key, entry) in entries(of: domain) {
                parts[entry.generation, default: Parts(domain: domain)].add(key, entry.archive)
            }
        }
        return parts.sorted { $0.key < $1.key }
            .map { ChangeSet(generation: $0.key, proposal: $0.value.proposal) }
    }

    /// What is left of one change; a change is one domain's.
    private struct Parts {
        let domain: Domain
        var set: [ChangeProposal.Assignment] = []
        var removed: [Key] = []

        mutating func add(_ key: Key, _ archive: [UInt8]?) {
            if let archive {
                set.append(.init(key: key, archive: archive))
            } else {
                removed.append(key)
            }
        }

        var proposal: ChangeProposal {
            ChangeProposal(domain: domain, set: set, removed: removed, origin: "")
        }
    }
}
