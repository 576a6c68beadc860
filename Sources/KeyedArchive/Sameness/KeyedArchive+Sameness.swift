extension KeyedArchive {
    /// Whether two archives are the same value: their graphs are the same, with the same classes and
    /// class chains and the same sharing, whatever the order of objects, fields and string keys.
    ///
    /// Integers, reals and booleans are kept apart, and so are what stands inline and what stands
    /// behind a reference. In doubt two archives differ. The time is linear in their bytes, but for
    /// the sorting of keys.
    public func isSame(as other: KeyedArchive) -> Bool {
        if bytes == other.bytes { return true }
        var comparison = GraphComparison(of: self, with: other)
        return comparison.run()
    }
}
