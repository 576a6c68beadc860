internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// Opens a store, and repairs it first if it is damaged.
struct StoreRepairer {
    private let file: StoreFile
    private let directory: PrivateDirectory
    private let journals: [PrivateDirectory]
    private let folder: BackupFolder
    private let wasLeftOpen: Bool
    private let note: StoreNote?
    private let hasPlaceNote: Bool
    private let mayBeTorn: Bool
    private let date: DateSource
    private let report: (Notice) -> Void

    /// - Parameters:
    ///   - place: The directory of the database, and what the previous process has noted there.
    ///   - journals: Where journals may be. They show the identity of the database.
    ///   - hasPlaceNote: Whether an earlier process has left a note of its places.
    ///   - mayBeTorn: See `WriteAheadLog`.
    ///   - date: Dates repairs and what is set aside.
    init(
        of file: StoreFile, in place: StorePlace, journals: [PrivateDirectory],
        hasPlaceNote: Bool, mayBeTorn: Bool, date: DateSource,
        report: @escaping (Notice) -> Void
    ) {
        self.file = file
        self.journals = journals
        directory = place.directory
        folder = BackupFolder(of: place.directory)
        wasLeftOpen = place.wasLeftOpen
        note = place.note
        self.hasPlaceNote = hasPlaceNote
        self.mayBeTorn = mayBeTorn
        self.date = date
        self.report = report
    }

    /// The backups; they are listed only if something is wrong.
    ///
    /// A folder that cannot be read counts as empty.
    private var backups: [Backup] { (try? folder.backups()) ?? [] }

    /// Opens the store.
    ///
    /// - Parameter damage: The damage that was found before; nil if none was.
    /// - Returns: The store, and whether it was repaired.
    func open(damage: String?) throws(StorageError) -> (OpenStore, isRepaired: Bool) {
        try setStrangeFilesAside()
        if try putInPlace() { return (try OpenStore(file, report: report), true) }
        let aside = try setForeignLogAside()
        let condition = try StoreCondition(
            of: file.path, wasLeftOpen: wasLeftOpen,
            hasTraces: hasPlaceNote || note != nil || !backups.isEmpty
                || JournalHistory.database(in: journals) != nil,
            mayBeTorn: mayBeTorn)
        if let reason = damage ?? condition.damage {
            return try openRepaired(because: reason, mayBeTorn: mayBeTorn)
        }
        if let state = try? file.foundState(), note?.isClosed == false,
            note?.provesLoss(in: state) == true
        {
            // All of the log was on disk when the note was written, so it has no incomplete
            // transaction.
            return try openRepaired(
                because: StorageError.behindItsNote(file.path).description, mayBeTorn: false)
        }
        do throws(StorageError) {
            let store = try openSound(condition)
            return (aside.map { store.noting($0, at: date.now, report: report) } ?? store, false)
        } catch {
            guard error.code == .damagedDatabase else { throw error }
            return try openRepaired(because: error.description, mayBeTorn: mayBeTorn)
        }
    }

    /// Sets aside links, pipes, directories and other programs' files that have the names of files beside
    /// the store.
    ///
    /// A log with a second hard link stays: a copy of the directory made of hard links has the same log.
    private func setStrangeFilesAside() throws(StorageError) {
        var names = ["-journal", ".unfinished", ".renewed"].map { file.name + $0 }
        if FileStatus.ifAny(file.logPath, followingLinks: false)?.kind == .link {
            names.append(file.name + "-wal")
        }
        do throws(SystemError) {
            for name in names {
                let aside = try file.directory.setStrangeAside(
                    name, mayHaveNames: name.hasSuffix("-journal"))
                if let aside {
                    report(.strangeFile(file.directory.file(name), setAside: aside))
                }
            }
        } catch {
            throw .cannotOpen(file.path, error)
        }
        try setFalseRenewalAside()
    }

    /// Sets aside a file that has the name of a new store and is none: this program gives that name only
    /// to a complete store.
    private func setFalseRenewalAside() throws(StorageError) {
        let replacement = StoreReplacement(of: file)
        guard !(try replacement.isReadyOrNone()) else { return }
        do throws(SystemError) {
            let aside = try file.directory.setAside(replacement.ready, as: ".aside")
            report(.noStore(file.directory.file(replacement.ready), setAside: aside))
        } catch {
            throw .cannotOpen(file.directory.file(replacement.ready), error)
        }
    }

    /// Refuses a link in place of the store that leads to another program's file: a repair would move that
    /// file away.
    private func checkLink() throws(StorageError) {
        guard StoreFile.isForeignLink(in: directory) else { return }
        throw .linkToForeignFile(directory.file(StoreFile.name), target: file.path)
    }

    /// Sets aside a log beside a store that was closed in order, if the log would damage the store or lead
    /// it back to an earlier state.
    ///
    /// A log alone proves nothing: after a power cut the note may be older than the log. But such a log
    /// leads to a state after the note.
    ///
    /// - Returns: What to report; nil if nothing was set aside.
    private func setForeignLogAside() throws(StorageError) -> Notice? {
        guard let note, note.isClosed, try hasBoth(), let state = file.stateWithoutLog(),
            note.isReached(by: state), try leadsAway(from: note)
        else { return nil }
        do {
            let aside = try StoreReplacement(of: file).setLogAside(at: date.now)
            return .logSetAside(file.path, as: aside)
        } catch {
            throw .cannotOpen(file.path, error)
        }
    }

    /// Whether both the database and its log have contents.
    private func hasBoth() throws(StorageError) -> Bool {
        do throws(SystemError) {
            let size = try StoreCondition.size(of: file.path)
            let logSize = try StoreCondition.size(of: file.logPath)
            return size > 0 && logSize > 0
        } catch {
            throw .cannotOpen(file.path, error)
        }
    }

    /// Whether the store, read together with its log, lacks what was noted.
    private func leadsAway(from note: StoreNote) throws(StorageError) -> Bool {
        do throws(SystemError) {
            if !mayBeTorn, try WriteAheadLog.isUnusable(of: file.path) { return true }
        } catch {
            throw .cannotOpen(file.path, error)
        }
        do throws(StorageError) {
            return try file.foundState().map { !note.isReached(by: $0) } ?? false
        } catch {
            return error.code == .damagedDatabase
        }
    }

    /// Opens a store that seems undamaged.
    ///
    /// - Throws: `.damagedDatabase` if the store is incomplete, and a backup has more.
    private func openSound(_ condition: StoreCondition) throws(StorageError) -> OpenStore {
        try file.make()
        let store = try OpenStore(file, report: report)
        guard condition.lacksLog else { return store }
        if let newest = newestBackup(of: store.state.uuid), newest > store.state.generation {
            throw .olderThanBackup(file.path)
        }
        // The note proves that nothing up to it is missing.
        if note?.isReached(by: store.state) == true { return store }
        return store.noting(.logMissing(file.path), at: date.now, report: report)
    }

    /// The generation of the newest backup of a database; nil if none can be read.
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

    private func openRepaired(
        because reason: String, mayBeTorn: Bool
    ) throws(StorageError) -> (OpenStore, isRepaired: Bool) {
        try checkLink()
        let made = try file.repair(
            because: reason, at: date.now, backups: backups, mayBeTorn: mayBeTorn,
            journal: JournalHistory.database(in: journals), note: note,
            progress: Progress { [path = file.path, report] in report(.repairing(path, pages: $0)) }
        )
        report(.repaired(made))
        _ = try putInPlace()
        return (try OpenStore(file, report: report), true)
    }

    /// Puts a new store in place of the damaged one.
    ///
    /// - Returns: Whether there was a new store.
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

extension StoreFile {
    /// Whether a link in place of the store leads to something that is no store, not even a damaged one.
    static func isForeignLink(in directory: PrivateDirectory) -> Bool {
        let path = directory.file(name)
        guard FileStatus.ifAny(path, followingLinks: false)?.kind == .link,
            let target = FileStatus.ifAny(path)
        else { return false }
        guard target.kind == .regular else { return true }
        guard target.size > 0 else { return false }
        let file = StoreFile(in: directory)
        if isRefusedByHelper(file.path) { return true }
        if let header = try? StoreHeader(inFile: path) { return !header.isOurs }
        guard let pages = try? StorePages(of: file.path, mayBeTorn: false),
            let salvage = try? Salvage(of: pages)
        else { return false }
        return salvage.state == nil
    }

    /// Whether this process is confined, and its helper says that a file is no database of this program.
    private static func isRefusedByHelper(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = try File.regular(path, O_RDONLY)
            return false
        } catch {
            return error.number == FileCalls.noDatabase
        }
    }

    /// Makes a new store, which the next opening puts in place of this one.
    ///
    /// Another process may have the damaged store open for reading.
    ///
    /// - Parameters:
    ///   - reason: What is wrong with the store.
    ///   - time: The present time, in seconds since 1970.
    ///   - backups: All backups, the newest first.
    ///   - mayBeTorn: See `WriteAheadLog`.
    ///   - journal: The identity of the database by its journal; nil if there is none.
    ///   - note: How far the store had come; nil if it is unknown.
    ///   - progress: Counts the pages that are read.
    /// - Throws: `.cannotOpen` if nothing was done, or `.replacementUndecided`.
    func repair(
        because reason: String, at time: UInt64, backups: [Backup], mayBeTorn: Bool,
        journal: UniqueID?, note: StoreNote?, progress: Progress? = nil
    ) throws(StorageError) -> RepairReport {
        var report = RepairReport(reason: reason, at: time)
        try StoreReplacement(of: self).make(orThrow: { .repairFailed(path, $0) }) { target in
            report = try Repair.make(
                from: path, at: target, because: reason, time: time,
                backups: backups.map(\.path), mayBeTorn: mayBeTorn, journal: journal, note: note,
                progress: progress)
        }
        return report
    }
}
