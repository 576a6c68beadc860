internal import DefaultsModel

/// What a start does with changes that come to light late.
extension DatabaseContents {
    /// The part of a change that neither the store nor anything pending has as new, without its
    /// token; nil where there is none.
    ///
    /// A removal that the store has forgotten counts as had: what came before the horizon of its
    /// domain and has no row may have been removed.
    func missing(of change: ChangeSet) throws(StorageError) -> ChangeProposal? {
        let domain = change.domain
        let horizon = try horizon(of: domain)
        func isMissing(_ key: Key) throws(StorageError) -> Bool {
            if overlay.entry(domain, key) != nil { return false }
            let known = try store.generation(domain, key) ?? horizon
            return known.map { $0 < change.generation } ?? true
        }
        var set: [ChangeProposal.Assignment] = []
        for assignment in change.set where try isMissing(assignment.key) { set.append(assignment) }
        var removed: [Key] = []
        let named = change.clearsDomain ? try keys(of: domain) : change.removed
        for key in named where try isMissing(key) { removed.append(key) }
        guard !set.isEmpty || !removed.isEmpty else { return nil }
        return ChangeProposal(domain: domain, set: set, removed: removed, origin: change.origin)
    }
}
