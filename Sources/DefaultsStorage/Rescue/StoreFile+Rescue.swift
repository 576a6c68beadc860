extension StoreFile {
    /// Makes the store anew, so that the next opening finds it made anew.
    ///
    /// Somebody may have the damaged one open for reading.
    ///
    /// - Parameters:
    ///   - reason: What is wrong with the store.
    ///   - backups: Those that there are, the newest first.
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    ///   - journal: The identity of the database by its journal; nil where there is none.
    ///   - note: How far the store had come; nil if nothing tells.
    ///   - progress: Told of each page that is read.
    /// - Throws: `.cannotOpen`, and nothing was done; or `.replacementUndecided`.
    func rescue(
        because reason: String, backups: [Backup], mayBeTorn: Bool, journal: UniqueID?,
        note: StoreNote?, progress: Progress? = nil
    ) throws(StorageError) -> RescueReport {
        var report = RescueReport(reason: reason)
        try StoreReplacement(of: self).make(orThrow: { .rescueFailed(path, $0) }) { target in
            report = try Rescue.make(
                from: path, at: target, because: reason, backups: backups.map(\.path),
                mayBeTorn: mayBeTorn, journal: journal, note: note, progress: progress)
        }
        return report
    }
}
