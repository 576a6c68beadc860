internal import KeyedArchive

/// One date has two forms in an archive: an NSDate object, and a date of the property list itself.
extension KeyedArchive {
    /// Whether both are the same value if the form of dates does not count.
    func isSameButForDates(as other: KeyedArchive) -> Bool {
        if isSame(as: other) { return true }
        guard let own = rebuilt(foldingDates: true), let theirs = other.rebuilt(foldingDates: true),
            own.isSame(as: theirs)
        else { return false }
        // The value form does not say all of some archives.
        return [self, other].allSatisfy { $0.rebuilt(foldingDates: false)?.isSame(as: $0) == true }
    }

    /// The archive of the value form; nil if there is none.
    private func rebuilt(foldingDates: Bool) -> KeyedArchive? {
        do {
            guard foldingDates else {
                var builder = ValueFormBuilder()
                try render(into: &builder)
                return builder.finish()
            }
            var sink = DateFolding(into: ValueFormBuilder())
            try render(into: &sink)
            return sink.sink.finish()
        } catch {
            return nil
        }
    }
}
