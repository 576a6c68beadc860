internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// Finds the journals that may have changes which a store lacks, and the pages beside them.
///
/// A database may have been moved since its journal was begun: by rename, by a link in its place, by a
/// mount, or by a copy to another place. So its journal is found by what it says about itself: for which
/// path it was made, and for which database.
///
/// A directory that another process uses is left out, and so is one that is missing or belongs to
/// another user: a runtime directory ends with its session, and another user may have taken its name.
/// Only a directory that concerns this database is locked to find that out, and only for a moment.
/// Otherwise processes with other databases could take it to be in use.
struct JournalSearch {
    /// Where the database is now.
    private let database: PrivateDirectory
    /// The hash of its real path.
    private let name: String
    /// The directories that exist, each once: noted by the last process, in the runtime directory, and
    /// beside the database.
    private let candidates: [PrivateDirectory]
    /// - Parameter last: Where the previous process left its files.
    init(at location: DatabaseLocation, last: PlaceNote?) throws(StorageError) {
        let real = try location.realDirectory()
        database = PrivateDirectory(existing: real)
        name = DatabaseLocation.hash(of: real)
        var paths = last.map { [$0.journal.path] + $0.pages } ?? []
        if let runtime = try? location.runtimeFolderPath() {
            let folder = PrivateDirectory(existing: runtime)
            let names = (try? folder.names().sorted()) ?? []
            paths += names.compactMap { try? Path.real(folder.file($0)) }
        }
        paths.append(DatabaseLocation.journalBesideDatabase(in: real))
        var found: [String] = []
        for path in paths where !found.contains(path) && JournalSearch.isOwnDirectory(path) {
            found.append(path)
        }
        candidates = found.map(PrivateDirectory.init(existing:))
    }

    /// The directories that were made for the place where the database is now, whatever its path was.
    func ofThisPlace() -> [PrivateDirectory] {
        candidates.filter { isOfThisPlace($0) && !JournalDirectory.isInUse($0) }
    }

    /// The directories with a journal of this database that were made for a place where it is no
    /// longer.
    ///
    /// If that place still has it, the database here is a copy, and the journal belongs to the
    /// original.
    ///
    /// - Parameters:
    ///   - database: The identity of the database.
    ///   - file: Its file.
    func ofMoved(_ database: UniqueID, now file: StoreFile) -> [PrivateDirectory] {
        candidates.filter { directory in
            guard !isOfThisPlace(directory), JournalHistory.has(database, in: directory),
                let earlier = JournalDirectory.database(of: directory)
            else { return false }
            return hasGone(database, from: PrivateDirectory(existing: earlier), to: file)
                && !JournalDirectory.isInUse(directory)
        }
    }

    private func isOfThisPlace(_ directory: PrivateDirectory) -> Bool {
        if directory.path == DatabaseLocation.journalBesideDatabase(in: database.path) {
            return true
        }
        guard let noted = JournalDirectory.database(of: directory) else {
            return directory.path.hasSuffix("/\(name)")
        }
        return noted == database.path || FileIdentity.areSame(noted, database.path)
    }

    /// Whether a place no longer has a database, except as the file that is used here.
    private func hasGone(
        _ database: UniqueID, from place: PrivateDirectory, to file: StoreFile
    ) -> Bool {
        let other = StoreFile(in: place)
        do throws(SystemError) {
            let identity = try FileStatus(of: other.path).identity
            if identity == FileIdentity(of: file.path) { return true }
        } catch {
            return error.number == ENOENT || error.number == ENOTDIR
        }
        return other.stateWithoutLog().map { $0.uuid != database } ?? false
    }

    private static func isOwnDirectory(_ path: String) -> Bool {
        guard let directory = try? File(path, O_RDONLY | O_DIRECTORY) else { return false }
        return (try? directory.status().owner) == geteuid()
    }
}
