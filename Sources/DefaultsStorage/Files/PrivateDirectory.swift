internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// A directory that only its owner enters, mode 0700.
struct PrivateDirectory {
    let path: String

    /// Makes the directory and those above it that are missing, each on disk before this returns.
    ///
    /// - Parameter isOurs: Whether an existing directory belongs to this program by its name. Then it is
    ///   closed to others. The permissions of any other existing directory, and of one that a link leads
    ///   to, are not changed: the user may have other plans for it.
    /// - Throws: `.directoryUnusable` if it cannot be made, or if it or the one in which it would be made
    ///   belongs to another user. `.directoryShared` if other users may enter it.
    init(making path: String, isOurs: Bool = true) throws(StorageError) {
        self.path = path
        if let obstacle = Ownership.obstacle(onTheWayTo: path) {
            throw .directoryOfAnother(path, obstacle)
        }
        let mode: mode_t
        do throws(SystemError) {
            let isMade = try PrivateDirectory.make(path)
            mode = try PrivateDirectory.restrict(path, mayClose: isOurs || isMade)
        } catch {
            throw .directoryUnusable(path, error)
        }
        guard mode & 0o077 == 0 else { throw .directoryShared(path, mode: mode) }
    }

    /// Checks that the directory is this user's, and closes it to others if that is wanted.
    ///
    /// - Returns: Its permissions after that.
    private static func restrict(_ path: String, mayClose: Bool) throws(SystemError) -> mode_t {
        // In a directory that is shared, somebody else may have put a link there.
        let link = try FileStatus(of: path, followingLinks: false)
        guard link.kind != .link || [0, geteuid()].contains(link.owner) else {
            throw SystemError(call: "follow another user's link", path: path, number: EACCES)
        }
        let directory = try File(path, O_RDONLY | O_DIRECTORY)
        let status = try directory.status()
        guard status.owner == geteuid() else {
            throw SystemError(call: "open", path: path, number: EACCES)
        }
        let mode = status.mode
        // A sticky directory is shared by intent, /tmp for one: it is not ours to close.
        guard mayClose, link.kind != .link, mode & S_ISVTX == 0, mode != 0o700 else { return mode }
        try directory.setMode(0o700)
        return 0o700
    }

    /// A directory that may exist; it is left as it is.
    init(existing path: String) {
        self.path = path
    }

    /// The path of a file in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of the files in it.
    func names() throws(SystemError) -> [String] {
        try Directory.names(in: path)
    }

    /// Renames a file in it, and replaces a file that has the new name.
    func rename(_ name: String, to other: String) throws(SystemError) {
        guard FileCalls.rename(file(name), to: file(other)) == 0 else {
            throw .last("rename", file(name))
        }
    }

    /// Removes a file in it.
    func remove(_ name: String) throws(SystemError) {
        guard FileCalls.unlink(file(name)) == 0 else { throw .last("unlink", file(name)) }
    }

    /// Renames a file in it to a name that no other file has.
    ///
    /// - Parameter ending: How the new name ends, after the old name and a number.
    /// - Returns: The new path.
    func setAside(_ name: String, as ending: String) throws(SystemError) -> String {
        var number = 1
        while access(file("\(name).\(number)\(ending)"), F_OK) == 0 { number += 1 }
        try rename(name, to: "\(name).\(number)\(ending)")
        return file("\(name).\(number)\(ending)")
    }

    /// Renames what has the name of a file of ours but is a link, a pipe, a directory, or a file with a
    /// second hard link, which may belong to another program.
    ///
    /// It is not opened. So this does not wait for the other end of a pipe, and does not write to a file
    /// elsewhere.
    ///
    /// - Parameter mayHaveNames: Whether a file with a second hard link is left in place, because it is
    ///   only read, or because its contents are checked.
    /// - Returns: The new path; nil if there is nothing, or an ordinary file.
    func setStrangeAside(
        _ name: String, mayHaveNames: Bool = false
    ) throws(SystemError) -> String? {
        let status: FileStatus
        do throws(SystemError) {
            status = try FileStatus(of: file(name), followingLinks: false)
        } catch {
            guard error.number == ENOENT else { throw error }
            return nil
        }
        if status.kind == .regular, status.linkCount <= 1 || mayHaveNames { return nil }
        return try setAside(name, as: ".aside")
    }

    /// Waits until the names in it are on the medium.
    func synchronize() throws(SystemError) {
        try File(path, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// How many bytes of its file system are free for this user.
    func freeSpace() throws(SystemError) -> Int {
        try diskSpace().free
    }

    /// The space on its file system.
    func diskSpace() throws(SystemError) -> DiskSpace {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { throw .last("statvfs", path) }
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(
                by: UInt64(system.f_frsize))
            return overflow ? .max : Int(clamping: bytes)
        }
        return DiskSpace(free: bytes(system.f_bavail), size: bytes(system.f_blocks))
    }

    /// - Returns: Whether it was missing.
    private static func make(_ path: String) throws(SystemError) -> Bool {
        // From the deepest directory that is there down to the one asked for.
        var missing: [String] = []
        var existing = path
        while access(existing, F_OK) != 0 {
            guard errno == ENOENT else { throw .last("access", existing) }
            missing.append(existing)
            existing = Path.parent(of: existing)
        }
        for directory in missing.reversed() {
            // Another process may make it at the same time. That is no error.
            guard FileCalls.makeDirectory(directory) == 0 || errno == EEXIST else {
                throw .last("mkdir", directory)
            }
            try File(Path.parent(of: directory), O_RDONLY | O_DIRECTORY).synchronize()
        }
        return !missing.isEmpty
    }
}
