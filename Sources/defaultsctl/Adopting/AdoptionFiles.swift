import DBus
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
@preconcurrency import Glibc
import SystemCalls

/// The files that say which doors defaultsd serves.
///
/// 1. The mark, `$XDG_CONFIG_HOME/defaultsd/NAME`: with it, the database has the values of this door,
///    and the daemon serves it. It is written when everything is imported, and removed when everything is
///    written back. It has a snapshot of the other service's files, with which later changes of them are
///    found.
///    If doors share files, the snapshot is in one file for all of them, `dconf.imported`. So a change of
///    the files is taken over once, whichever door does it. The daemon writes it, too.
///    Before a snapshot is imported, it is in `NAME.importing.1`. If the import is interrupted, it tells
///    what came from there from what was changed in the database.
/// 2. An activation file for each name on the bus. The user's files win over those of packages.
/// 3. What the door writes by itself, such as the user's configuration of the portal.
struct AdoptionFiles {
    let door: any DesktopDoor
    private let mark: String
    private let services: String
    /// The shared snapshot, and where earlier versions have kept it.
    private let shared: String?
    private let formerShared: [String]
    /// The mark of the door whose files the daemon writes.
    private let viewMark: String

    init(of door: any DesktopDoor, in places: Places) throws(ToolError) {
        guard let database = places.database, let data = places.ownData else { throw .noHome }
        self.door = door
        mark = "\(database)/\(door.name)"
        services = "\(data)/dbus-1/services"
        shared = door.sharedImport.map { _ in "\(database)/dconf.imported" }
        let former = "\(database)/\(GSettingsDoor.name)"
        formerShared = [former, "\(former).released"]
        viewMark = "\(database)/\(DconfDoor.name)"
    }

    /// The paths of all of them, for people.
    var paths: [String] { own + door.entryFiles }

    /// The paths of those that nobody else writes.
    private var own: [String] { [mark] + door.busNames.map(path) }

    /// Whether the database has the values of this door.
    var isAdopted: Bool { FileStatus.ifAny(mark) != nil }

    /// Whether a file is missing, so that the other service may run.
    var isIncomplete: Bool {
        own.contains { FileStatus.ifAny($0) == nil } || !door.isEntered
    }

    /// Whether any of them exists, also as a link of an installation that was removed.
    var isStarted: Bool {
        own.contains { FileStatus.ifAny($0, followingLinks: false) != nil }
    }

    /// Whether the files of the other service are written by the daemon, for this door or another one.
    var areShown: Bool { isView && FileStatus.ifAny(viewMark) != nil }

    /// Whether the files only show what the database has.
    ///
    /// A file that is missing while the daemon writes it removes nothing: the daemon writes it again.
    var isView: Bool { door.isView || FileStatus.ifAny(viewMark) != nil && isSharedFileMissing }

    private var isSharedFileMissing: Bool {
        guard let file = door.sharedImport, let snapshot = try? door.snapshot() else {
            return false
        }
        return snapshot.files[file]?.isEmpty ?? true
    }

    /// Writes the mark, with a snapshot of the other service's files.
    ///
    /// - Parameter snapshot: Nil if there is nothing to import later, because the daemon does.
    func writeMark(_ snapshot: Snapshot?) throws {
        if let shared, let file = door.sharedImport {
            if let snapshot { try Self.write(snapshot.files[file] ?? [], to: shared) }
            if !isAdopted { try Self.write(try Snapshot().archive.bytes, to: mark) }
        } else {
            try Self.write(try (snapshot ?? Snapshot()).archive.bytes, to: mark)
        }
        try Self.remove(released)
        // The last one first: they are counted from the first on.
        for path in interrupted.reversed() { try Self.remove(path) }
    }

    /// Notes what is about to be imported, until the mark is written.
    func noteImporting(_ snapshot: Snapshot) throws {
        try Self.write(try snapshot.archive.bytes, to: importing(interrupted.count + 1))
    }

    /// The snapshots of imports that were interrupted, so each may be in the database or not.
    func readInterrupted() throws -> [Snapshot] { try interrupted.map(Self.snapshot) }

    private var interrupted: [String] {
        var paths: [String] = []
        while FileStatus.ifAny(importing(paths.count + 1)) != nil {
            paths.append(importing(paths.count + 1))
        }
        return paths
    }

    private func importing(_ number: Int) -> String { "\(mark).importing.\(number)" }

    /// The snapshot in the mark.
    func readMark() throws -> Snapshot { try readShared() ?? Self.snapshot(in: mark) }

    /// The snapshot of an earlier release; nil if there was none.
    func readReleased() throws -> Snapshot? {
        if let snapshot = try readShared() { return snapshot }
        return FileStatus.ifAny(released) == nil ? nil : try Self.snapshot(in: released)
    }

    /// Notes what the files have after the mark was removed.
    func noteReleased(_ snapshot: Snapshot) throws {
        guard let shared, let file = door.sharedImport else { return }
        try Self.write(snapshot.files[file] ?? [], to: shared)
    }

    private func readShared() throws -> Snapshot? {
        guard let shared, let file = door.sharedImport else { return nil }
        if FileStatus.ifAny(shared) != nil {
            return Snapshot([file: try InputFile.contents(of: shared, limit: Self.largestMark)])
        }
        // An earlier version had it in the mark of the only door.
        let former = formerShared.first { FileStatus.ifAny($0) != nil }
        guard let former else { return nil }
        let snapshot = try Self.snapshot(in: former)
        return snapshot.files.isEmpty ? nil : snapshot
    }

    private var released: String { "\(mark).released" }

    private static func snapshot(in path: String) throws(ToolError) -> Snapshot {
        do {
            return try Snapshot(
                archive: try InputFile.contents(of: path, limit: Self.largestMark))
        } catch let error as InputFile.Failure {
            throw .input(path, error.message)
        } catch {
            throw .input(path, "It is not the file of an adoption. Remove it, and try again.")
        }
    }

    /// The largest mark, in bytes: that of a database of dconf.
    private static let largestMark = 256 << 20

    /// Removes the mark, and keeps its snapshot for the next adoption.
    func retireMark() throws(ToolError) {
        if let shared, FileStatus.ifAny(shared) != nil { return try Self.remove(mark) }
        guard rename(mark, released) == 0 || errno == ENOENT else {
            throw .input(mark, SystemError.words(for: errno) + ".")
        }
    }

    /// Makes the activation files.
    ///
    /// If the program is installed with such files, these are links to them. When it is removed, the
    /// links lead nowhere, so the bus starts the other service again.
    func writeActivation(of program: String) throws(ToolError) {
        let prefix = Path.parent(of: Path.parent(of: program))
        for name in door.busNames {
            let text = """
                [D-BUS Service]
                Name=\(name)
                Exec=\(program) --replace
                SystemdService=defaultsd.service

                """
            let installed = "\(prefix)/share/dbus-1/adopted-services/\(name).service"
            let contents = try? InputFile.contents(of: installed, limit: 1 << 16)
            if contents == Array(text.utf8) {
                try Self.link(installed, at: path(name))
            } else {
                // A file is not written through a link of an earlier installation.
                if Path.target(ofLink: path(name)) != nil { try Self.remove(path(name)) }
                try Self.write(Array(text.utf8), to: path(name))
            }
        }
    }

    func removeActivation() throws(ToolError) {
        for name in door.busNames { try Self.remove(path(name)) }
    }

    private func path(_ name: BusName) -> String { "\(services)/\(name).service" }

    /// Writes a file as a whole, and its directories if they are missing.
    ///
    /// When this returns, it is on disk.
    static func write(_ bytes: [UInt8], to path: String) throws(ToolError) {
        do {
            try makeDirectory(Path.parent(of: path))
            try OutputFile.write(bytes, to: path)
            try File(Path.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
        } catch let error as OutputFile.Failure {
            throw .input(path, error.message)
        } catch {
            throw .input(path, "\(error)")
        }
    }

    /// Makes a link, in the place of any file, and its directories if they are missing.
    private static func link(_ target: String, at path: String) throws(ToolError) {
        do throws(SystemError) {
            let directory = Path.parent(of: path)
            try makeDirectory(directory)
            let new = "\(path).new"
            unlink(new)
            guard symlink(target, new) == 0 else { throw .last("symlink", new) }
            guard rename(new, path) == 0 else { throw .last("rename", new) }
            try File(directory, O_RDONLY | O_DIRECTORY).synchronize()
        } catch {
            throw .input(path, "\(error)")
        }
    }

    /// Removes a file; one that does not exist is no error.
    static func remove(_ path: String) throws(ToolError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .input(path, SystemError.words(for: errno) + ".")
        }
    }

    /// Makes a directory and those above it, but not in a directory of another user: `sudo -E` keeps the
    /// home of its caller.
    private static func makeDirectory(_ path: String) throws(SystemError) {
        if let obstacle = Ownership.obstacle(onTheWayTo: path) {
            throw SystemError(
                call: "make a file of another user in", path: obstacle.directory, number: EACCES)
        }
        if FileStatus.ifAny(path)?.kind == .directory { return }
        try makeDirectory(Path.parent(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
    }
}
