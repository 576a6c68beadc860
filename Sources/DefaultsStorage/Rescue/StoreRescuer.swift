internal import DefaultsModel
internal import SQLite

/// Opens a store, and where it is damaged makes it anew first.
struct StoreRescuer {
    private let file: StoreFile
    private let journals: [PrivateDirectory]
    private let folder: BackupFolder
    private let wasLeftOpen: Bool
    private let hasNote: Bool
    private let mayBeTorn: Bool
    private let report: (Notice) -> Void

    /// - Parameters:
    ///   - journals: Where journals may stand, which tell the identity of the database.
    ///   - wasLeftOpen: Whether the process before has left a log.
    ///   - hasNote: Whether a process before has left a note of its places.
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    init(
        of file: StoreFile, in directory: PrivateDirectory, journals: [PrivateDirectory],
        wasLeftOpen: Bool, hasNote: Bool, mayBeTorn: Bool, report: @escaping (Notice) -> Void
    ) {
        self.file = file
        self.journals = journals
        folder = BackupFolder(of: directory)
        self.wasLeftOpen = wasLeftOpen
        self.hasNote = hasNote
        self.mayBeTorn = mayBeTorn
        self.report = report
    }

    /// The backups, for which nobody looks while nothing is wrong.
    ///
    /// A folder that cannot be read has none to give.
    private var backups: [Backup] { (try? folder.backups()) ?? [] }

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

    /// - Throws: `.damagedDatabase` where the store is not all of it, and a backup has more.
    private func openSound(_ condition: StoreCondition) throws(StorageError) -> OpenStore {
        try file.make()
        let store = try OpenStore(file, report: report)
        guard condition.lacksLog else { return store }
        if let newest = newestBackup(of: store.state.uuid), newest > store.state.generation {
            throw .olderThanBackup(file.path)
        }
        return store.noting(.logMissing(file.path), report: report)
    }

    /// The generation of the newest backup of a database; nil where there is none that can be read.
    private func newestBackup(of database: UniqueID) -> Generation? {
        for backup in backups {
            let file = StoreFile(path: backup.path)
            if let connection = try? Connection(path: backup.path, flags: .readOnly),
                let state = try? file.state(connection), state.uuid == database
            {
                return state.generation
            }
        }
        return nil
    }

    private func openRescued(
        because reason: String
    ) throws(StorageError) -> (OpenStore, isRescued: Bool) {
        let made = try file.rescue(
            because: reason, backups: backups, mayBeTorn: mayBeTorn,
            journal: JournalHistory.database(in: journals))
        report(.rescued(made))
        _ = try putInPlace()
        return (try OpenStore(file, report: report), true)
    }

    /// - Returns: Whether there was a store that was made anew.
    private func putInPlace() throws(StorageError) -> Bool {
        do {
            guard case .replaced(let aside) = try StoreReplacement(of: file).finish() else {
                return false
            }
            if let aside { report(.setAside(aside)) }
            return true
        } catch {
            throw .cannotOpen(file.path, error)
        }
    }
}
