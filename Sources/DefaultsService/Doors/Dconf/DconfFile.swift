import DconfFiles
import DefaultsDconf
import DefaultsProtocol
import DefaultsStorage
import Glibc
import KeyedArchive
import SystemCalls

// Invariants
//
// 1. The file is replaced as a whole, by a rename, so a program reads the old file or the new one.
// 2. A file that somebody else has written is not replaced before its values are in the database. One
//    that cannot be read is not replaced at all. One that is not a file of dconf gets another name.
// 3. Programs hear of a new file after it is in its place.
// 4. The file is not synchronized with the disk: it shows what the database has, and is written again
//    at the next start.

/// dconf's file of the user, from which programs read their settings.
///
/// All of this is work with files, so a thread of its own does it.
struct DconfFile: Sendable {
    /// Where the files are.
    struct Places: Sendable {
        /// The directory of dconf's files.
        let directory: String
        /// The directory of the flags, by which programs know that there is another file; nil if there is
        /// no runtime directory.
        let flags: String?
        /// A copy of the last file of somebody else whose values are in the database.
        ///
        /// The tool writes it, too. See `Adoption`.
        let imported: String

        /// Those of the user's own file; nil if the environment does not say where it is.
        ///
        /// - Parameter database: Where the database is.
        init?(beside database: DatabaseLocation) {
            guard let standard = try? DatabaseLocation.fromEnvironment() else { return nil }
            directory = Path.parent(of: standard.directory) + "/dconf"
            flags = standard.runtimeDirectory.map { "\($0)/dconf" }
            imported = "\(database.directory)/dconf.imported"
        }

        var file: String { "\(directory)/user" }
        fileprivate var unfinished: String { "\(directory)/user.defaultsd" }
        fileprivate var spare: String { "\(directory)/user~" }
        fileprivate var flag: String? { flags.map { "\($0)/user" } }

        /// The directories whose files the daemon changes.
        var directories: [String] { [directory] + (flags.map { [$0] } ?? []) }
    }

    /// What was found in its place.
    struct Found: Sendable {
        /// Nil if there is no file.
        var identity: FileState?
        var image = DconfImage()
        /// The bytes of a file that somebody else has written.
        var foreign: [UInt8]?
        /// What was done with a file that is damaged, for the log.
        var remark: String?
    }

    /// A file that was written here.
    struct Written: Sendable {
        /// Nil if there is none.
        let identity: FileState?
        /// The size that it had when all of it was written.
        ///
        /// Since then, values may have been replaced, of which the old ones are still in it.
        let compactSize: Int
    }

    /// The file was replaced while it was worked on, or more was changed than is read again.
    struct Replaced: Error, CustomStringConvertible {
        var description: String { "Something else was written meanwhile, again and again." }
    }

    let places: Places
    let schemas: SchemaIndex

    // MARK: Reading

    /// Reads the file.
    func read() throws -> Found {
        guard let (bytes, identity) = try contents(of: places.file) else { return Found() }
        do throws(GVDBError) {
            let image = try DconfImage(bytes)
            return Found(
                identity: identity, image: image, foreign: image.isView ? nil : bytes)
        } catch {
            guard FileCalls.rename(places.file, to: places.spare) == 0 else {
                throw SystemError.last("rename", places.file)
            }
            return Found(remark: "\(places.file) was damaged, and is now \(places.spare): \(error)")
        }
    }

    /// Nil if there is no file.
    private func contents(of path: String) throws -> (bytes: [UInt8], identity: FileState)? {
        do throws(SystemError) {
            let file = try File.regular(path, O_RDONLY | O_NOFOLLOW)
            let identity = FileState(try file.status())
            guard let bytes = try file.contents(atMost: GVDBTable.maximumSize) else {
                throw SystemError(call: "read", path: path, number: EFBIG)
            }
            return (bytes, identity)
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
            return nil
        }
    }

    /// A setting that somebody else has changed in the file.
    struct ForeignChange: Sendable {
        let path: SettingsPath
        let before: ExactValue?
        let after: ExactValue?
    }

    /// What the file has changed since it was last imported.
    ///
    /// What cannot be read is no change. It stays in the file.
    func changes(in found: Found) throws -> [ForeignChange] {
        let old = try lastImport()
        return found.image.paths(unlike: old).compactMap { path in
            guard !found.image.hasUnreadableValue(at: path) else { return nil }
            return SettingsPath(path).map {
                ForeignChange(
                    path: $0, before: old.value(at: path), after: found.image.value(at: path))
            }
        }
    }

    private func lastImport() throws -> DconfImage { try image(at: places.imported) }

    /// An empty image if there is no file, or none of dconf.
    private func image(at path: String) throws -> DconfImage {
        let bytes = try contents(of: path)?.bytes ?? []
        return (try? DconfImage(bytes)) ?? DconfImage()
    }

    /// The domains of former files, which programs of dconf have set.
    func formerDomains() throws -> Set<String> {
        let images = try [places.imported, places.spare].map { try image(at: $0) }
        return Set(images.flatMap(\.paths).compactMap { SettingsPath($0)?.domain })
    }

    /// Notes that the values of a file are in the database, and on disk there.
    ///
    /// - Parameter kept: Locked settings, of which the file has the value of the lock. What was imported
    ///   before is still the user's.
    func noteImport(of found: Found, _ bytes: [UInt8], keeping kept: [SettingsPath]) throws {
        var bytes = bytes
        if !kept.isEmpty {
            let former = try lastImport()
            var image = found.image
            for path in kept { image.copy(path.path, from: former) }
            bytes = try image.bytes(asView: false)
        }
        let unfinished = "\(places.imported).unfinished"
        try replace(places.imported, with: bytes, by: unfinished, isDurable: true)
    }

    // MARK: Writing

    /// A setting, and the archive that programs are to see; nil for none.
    typealias Update = (path: SettingsPath, archive: [UInt8]?)

    /// Writes a file with these settings and no others.
    ///
    /// - Parameter known: The file that is replaced.
    /// - Returns: The new file, and the paths whose values differ.
    /// - Throws: ``Replaced`` if it is another file.
    func write(
        all updates: [Update], replacing known: FileState?
    ) throws -> (file: Written, changed: [String]) {
        let found = try read()
        guard found.identity == known else { throw Replaced() }
        // What the database cannot have stays as it is in the file, such as a key with a very long path,
        // or a value of a type that is not known here.
        var image = found.image.filter { path in
            SettingsPath(path).map { DconfDomains.isPrivate($0.domain) } ?? true
                || found.image.hasUnreadableValue(at: path)
        }
        for update in updates { _ = try? image.set(update.path.path, to: value(of: update)) }
        let changed = image.paths(unlike: found.image)
        var identity = known
        if !changed.isEmpty || !found.image.isView {
            identity = try write(image.bytes(asView: true))
        }
        // After the end of another daemon the file may be new to programs, too.
        try flagFile()
        return (Written(identity: identity, compactSize: identity?.size ?? 0), changed)
    }

    /// Writes a file in which some settings differ.
    ///
    /// - Returns: The new file, and the paths whose values differ.
    /// - Throws: ``Replaced`` if the file is another one than was written last.
    func write(
        changed updates: [Update], replacing known: Written
    ) throws -> (file: Written, changed: [String]) {
        guard let (bytes, identity) = try contents(of: places.file), identity == known.identity,
            var patch = try? DconfPatch(bytes)
        else { throw Replaced() }
        var changed: [String] = []
        let isTooLarge = bytes.count > 2 * known.compactSize + Self.largestGrowth
        for update in updates {
            let outcome = value(of: update).map { patch.set(update.path.path, to: $0) }
            guard let outcome, outcome != .impossible, !isTooLarge else {
                return try rewrite(DconfImage(bytes), updates, known)
            }
            if outcome == .replaced { changed.append(update.path.path) }
        }
        guard !changed.isEmpty else { return (known, []) }
        let new = try write(patch.bytes)
        try flagFile()
        return (Written(identity: new, compactSize: known.compactSize), changed)
    }

    /// How much replaced values may add to a file, however small it is.
    private static let largestGrowth = 64 << 10

    private func rewrite(
        _ image: DconfImage, _ updates: [Update], _ known: Written
    ) throws -> (file: Written, changed: [String]) {
        var image = image
        var changed: [String] = []
        for update in updates {
            let differs = try? image.set(update.path.path, to: value(of: update))
            if differs == true { changed.append(update.path.path) }
        }
        guard !changed.isEmpty else { return (known, []) }
        let identity = try write(image.bytes(asView: true))
        try flagFile()
        return (Written(identity: identity, compactSize: identity.size), changed)
    }

    /// The value that programs see; nil if it is none that dconf can have.
    private func value(of update: Update) -> ExactValue? {
        guard let bytes = update.archive, let archive = try? KeyedArchive(validating: bytes) else {
            return nil
        }
        return try? schemas.value(of: archive, at: update.path)
    }

    private func write(_ bytes: [UInt8]) throws -> FileState {
        do throws(SystemError) {
            return try replace(places.file, with: bytes, by: places.unfinished)
        } catch {
            guard error.number == ENOENT else { throw error }
            // Both may be missing, as in the home of a new user.
            _ = FileCalls.makeDirectory(Path.parent(of: places.directory))
            guard FileCalls.makeDirectory(places.directory) == 0 || errno == EEXIST else {
                throw SystemError.last("mkdir", places.directory)
            }
            return try replace(places.file, with: bytes, by: places.unfinished)
        }
    }

    @discardableResult
    private func replace(
        _ path: String, with bytes: [UInt8], by unfinished: String, isDurable: Bool = false
    ) throws(SystemError) -> FileState {
        _ = FileCalls.unlink(unfinished)
        let file = try File(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        do throws(SystemError) {
            try file.write(bytes, at: 0)
            if isDurable { try file.synchronize() }
            let identity = FileState(try file.status())
            guard FileCalls.rename(unfinished, to: path) == 0 else {
                throw .last("rename", path)
            }
            if isDurable { try File(Path.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize() }
            return identity
        } catch {
            _ = FileCalls.unlink(unfinished)
            throw error
        }
    }

    /// Tells the programs that have read the file to read it again.
    ///
    /// They have mapped the first byte of the flag. The next program that reads the file makes a new flag.
    private func flagFile() throws {
        guard let path = places.flag else { return }
        do throws(SystemError) {
            let flag = try File.regular(path, O_RDWR | O_NOFOLLOW)
            // A program may have just made it, so that it is still empty.
            try flag.write([1, 0], at: 0)
            guard FileCalls.unlink(path) == 0 || errno == ENOENT else {
                throw .last("unlink", path)
            }
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
        }
    }
}
