internal import PropertyList

extension KeyedArchive {
    /// The archive that one of this module's writers made.
    ///
    /// Nothing is checked again: ``PropertyListWriter`` writes what has the invariants of
    /// ``PropertyList``, and ``ObjectTable`` what has those of an archive. Debug builds check that
    /// this is so; and no broken invariant breaks the safety of memory.
    init(written list: PropertyList) {
        do {
            let root = try RootEntries(of: list)
            self.init(list: list, root: root)
        } catch {
            preconditionFailure("The archive that was written has no root: \(error)")
        }
        assert(isValid, "The archive that was written is not valid.")
    }

    private var isValid: Bool {
        let limits = Limits(
            byteCount: .max, objectCount: .max, depth: Limits.standard.depth)
        do {
            _ = try KeyedArchive(validating: bytes, limits: limits)
            return true
        } catch {
            return false
        }
    }
}
