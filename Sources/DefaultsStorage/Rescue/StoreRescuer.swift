internal import DefaultsModel

/// Opens a store, and where it is damaged makes it anew first.
struct StoreRescuer {
    private let file: StoreFile
    private let directory: PrivateDirectory
    private let journals: [PrivateDirectory]
    /// The identity of the database, where that is known already.
    private let database: UniqueID?
    private let backups: [Backup]
    private let wasLeftOpen: Bool
    private let hasNote: Bool
    private let mayBeTorn: Bool
    private let report: (Notice) -> Void

    /// - Parameters:
    ///   - journals: Where journals may stand, which tell the identity of the database.
    ///   - wasLeftOpen: Whether the process before has not closed the store.
    ///   - hasNote: Whether a process before has left a note of its places.
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    init(
        of file: StoreFile, in directory: PrivateDirectory, journals: [PrivateDirectory],
        wasLeftOpen: Bool, hasNote: Bool, mayBeTorn: Bool, report: @escaping (Notice) -> Void
    ) {
        self.file = file
        self.directory = directory
        self.journals = journals
        database = nil
        // A folder that cannot be read has none to give.
        backups = (try? BackupFolder(of: directory).backups()) ?? []
        self.wasLeftOpen = wasLeftOpen
        self.hasNote = hasNote
        self.mayBeTorn = mayBeTorn
        self.report = report
    }

    /// For a database that is open, which knows its identity and has lost no power.
    init(of file: StoreFile, in directory: PrivateDirectory, database: UniqueID) {
        self.file = file
        self.directory = directory
        self.database = database
        journals = []
        backups = (try? BackupFolder(of: directory).backups()) ?? []
        (wasLeftOpen, hasNote, mayBeTorn) = (true, true, false)
        report = { _ in }
    }

    /// Opens the store.
    ///
    /// - Parameter damage: What was found to be wrong with it before; nil where nothing was.
    /// - Returns: The store, and whether it was made anew.
    func open(damage: String?) throws(StorageError) -> (OpenStore, isRescued: Bool) {
        if try putInPlace() { return (try OpenStore(file, report: report), true) }
        let condition = try StoreCondition(
            of: file.path, wasLeftOpen: wasLeftOpen,
            hasTraces: hasNote || !backups.isEmpty || JournalHistory.database(in: journals) != nil,
            mayBeTorn: mayBeTorn)
        if let reason = damage ?? condition.damage {
            return try openRescued(because: reason)
        }
        do throws(StorageError) {
            return (try openSound(condition), false)
        } catch {
            guard error.code == .damagedDatabase else { throw error }
            return try openRescued(because: error.description)
        }
    }

    /// Makes the store anew, so that the next opening finds it made anew.
    ///
    /// Somebody may have the damaged one open for reading.
    func rescue(because reason: String) throws(StorageError) -> RescueReport {
        let replacement = StoreReplacement(directory: directory)
        do {
            let made = try Rescue.make(
                from: file.path, at: try replacement.begin(), because: reason,
                backups: backups.map(\.path), mayBeTorn: mayBeTorn,
                orElse: database ?? JournalHistory.database(in: journals))
            try replacement.commit()
            return made
        } catch {
            throw .rescueFailed(file.path, error)
        }
    }

    /// - Throws: `.damagedDatabase` where the store is not all of it.
    private func openSound(_ condition: StoreCondition) throws(StorageError) -> OpenStore {
        try file.make(in: directory)
        let store = try OpenStore(file, report: report)
        if condition.lacksLog, let backup = backups.first,
            backup.generation > store.state.generation
        {
            throw .olderThanBackup(file.path)
        }
        return store
    }

    private func openRescued(
        because reason: String
    ) throws(StorageError) -> (OpenStore, isRescued: Bool) {
        report(.rescued(try rescue(because: reason)))
        _ = try putInPlace()
        return (try OpenStore(file, report: report), true)
    }

    /// - Returns: Whether there was a store that was made anew.
    private func putInPlace() throws(StorageError) -> Bool {
        do {
            let replacement = StoreReplacement(directory: directory)
            try replacement.removeUnfinished()
            guard case .replaced(let aside) = try replacement.finish() else { return false }
            if let aside { report(.setAside(aside)) }
            return true
        } catch {
            throw .cannotOpen(file.path, error)
        }
    }
}
