extension PendingOverlay {
    /// What is pending as changes again, in the order of their generations, without what later
    /// changes have replaced.
    ///
    /// The tokens follow as changes of their own, which change nothing, those of a domain in the
    /// order in which they were remembered. The writers' bus names are not kept.
    public var changeSets: [ChangeSet] {
        var parts: [Generation: Parts] = [:]
        var tokens: [ChangeSet] = []
        for domain in domains {
            for (key, entry) in entries(of: domain) {
                parts[entry.generation, default: Parts(domain: domain)].add(key, entry.archive)
            }
            if let cleared = cleared(domain) {
                parts[cleared, default: Parts(domain: domain)].clearsDomain = true
            }
            tokens += self.tokens(of: domain).map { token, generation in
                ChangeSet(
                    generation: generation,
                    proposal: ChangeProposal(domain: domain, token: token, origin: ""))
            }
        }
        return parts.sorted { $0.key < $1.key }
            .map { ChangeSet(generation: $0.key, proposal: $0.value.proposal) } + tokens
    }

    /// What is left of one change; a change is one domain's.
    private struct Parts {
        let domain: Domain
        var set: [ChangeProposal.Assignment] = []
        var removed: [Key] = []
        var clearsDomain = false

        mutating func add(_ key: Key, _ archive: [UInt8]?) {
            if let archive {
                set.append(.init(key: key, archive: archive))
            } else {
                removed.append(key)
            }
        }

        var proposal: ChangeProposal {
            clearsDomain
                ? ChangeProposal(clearing: domain, origin: "")
                : ChangeProposal(domain: domain, set: set, removed: removed, origin: "")
        }
    }
}
