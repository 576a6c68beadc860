import CLinux
import DBus
@preconcurrency import Glibc
import SystemCalls

/// Checks the directory of the database from outside.
///
/// It opens only the file with the name of the lock's owner.
struct StorageCheck {
    let directory: String
    /// The process that serves on the bus; nil if there is none.
    let service: UInt32?

    private static let scarce: UInt64 = 16 << 20
    private static let little: UInt64 = 256 << 20
    /// The size of the space for removals, in bytes: 4 MiB.
    private static let reserved = 4 << 20

    /// A problem of the disk that is the cause of others: it does not answer, or nothing on it can be
    /// written.
    var cause: Finding? {
        if let error = failure {
            return .problem(
                "disk",
                "The disk of \(directory) does not answer: \(error.reason). The service has no defaults "
                    + "until it does.",
                "Make sure that it is connected and works. dmesg may say more.")
        }
        var existing = directory
        while existing != "/", FileStatus.ifAny(existing) == nil {
            existing = Path.parent(of: existing)
        }
        var status = statvfs()
        guard statvfs(existing, &status) == 0, status.f_flag & UInt(ST_RDONLY) != 0 else {
            return nil
        }
        return .problem(
            "disk",
            "The file system of \(directory) is read-only. Defaults can be read, and changes last until "
                + "the end of the session.",
            "Mount it for writing. dmesg shows whether it has failed.")
    }

    /// The error of a disk that has been there, and is pulled out, broken, or behind a dead connection.
    private var failure: SystemError? {
        do throws(SystemError) {
            _ = try File("\(directory)/lock", O_RDONLY).read(1, at: 0)
        } catch {
            let dead = [EIO, ENXIO, ENODEV, ESTALE, ETIMEDOUT, ENOTCONN, EHOSTDOWN]
            if dead.contains(error.number) { return error }
        }
        return nil
    }

    /// All except ``cause``.
    func findings() -> [Finding] {
        guard cause == nil else { return [lock(), backups(), leftovers()].compactMap(\.self) }
        do throws(SystemError) {
            let status = try FileStatus(of: directory)
            return [permissions(status), disk(directory), lock(), backups(), leftovers()]
                .compactMap(\.self)
        } catch {
            if error.number == ENOENT { return absence() }
            return [
                .problem(
                    "database", "\(directory) cannot be reached: \(error.reason).",
                    "Make sure that you may enter its parent directories.")
            ]
        }
    }

    // MARK: Missing directory

    /// Checks whether the missing directory can be created.
    private func absence() -> [Finding] {
        var parent = directory
        while FileStatus.ifAny(parent) == nil {
            if let target = Path.target(ofLink: parent) {
                return [
                    .problem(
                        "database", "\(parent) is a link to \(target), which does not exist.",
                        "Create the target, or remove the link.")
                ]
            }
            parent = Path.parent(of: parent)
        }
        let obstacle =
            access(parent, W_OK | X_OK) != 0
            ? SystemError.words(for: errno)
            : isKernelMade(parent) ? "only the kernel creates files there" : nil
        if let obstacle {
            return [
                .problem(
                    "database", "\(directory) cannot be created in \(parent): \(obstacle).",
                    "Set XDG_CONFIG_HOME to a directory that you can write to, or unset it.")
            ]
        }
        return [.ok("database", "\(directory) will be created at the first change."), disk(parent)]
    }

    /// Whether a directory is on a file system in which only the kernel creates files.
    ///
    /// The numbers are those of [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html).
    private func isKernelMade(_ directory: String) -> Bool {
        let (proc, sysfs): (UInt32, UInt32) = (0x9FA0, 0x6265_6572)
        guard let file = try? File(directory, O_RDONLY | O_DIRECTORY) else { return false }
        return [proc, sysfs].contains(clinux_type_of_file_system(file.descriptor))
    }

    // MARK: Permissions

    private func permissions(_ status: FileStatus) -> Finding {
        guard status.kind == .directory else {
            return .problem("database", "\(directory) is not a directory.", "Move it away.")
        }
        guard status.owner == geteuid() else {
            return .problem(
                "database", "\(directory) belongs to another user, number \(status.owner).",
                geteuid() == 0
                    ? "Run this command as that user: sudo -u '#\(status.owner)' defaultsctl doctor"
                    : "If it should be yours, an administrator can give it to you with chown -R.")
        }
        guard access(directory, W_OK | X_OK) == 0 else {
            return .problem(
                "database", "\(directory) is not writable: \(SystemError.words(for: errno)).",
                "chmod 700 \(ShellWord.quoted(directory))")
        }
        let foreign = Directory.readableNames(in: directory).filter { name in
            FileStatus.ifAny("\(directory)/\(name)").map { $0.owner != geteuid() } ?? false
        }
        if let name = foreign.first {
            return .problem(
                "database", "\(directory)/\(name) belongs to another user.",
                "Change the owner of \(ShellWord.quoted(directory)) to yourself with chown -R. sudo may have created it."
            )
        }
        if let finding = files() { return finding }
        let open = [directory] + Directory.readableNames(in: directory).map { "\(directory)/\($0)" }
        let shared = open.filter { path in
            FileStatus.ifAny(path).map { $0.mode & 0o077 != 0 } ?? false
        }
        if let path = shared.first {
            return .warning(
                "database", "Other users have access to \(path).",
                "chmod go= \(ShellWord.quoted(path))")
        }
        let size = FileStatus.ifAny("\(directory)/defaults.db")?.size ?? 0
        return .ok("database", "\(directory), \(Amount.bytes(UInt64(clamping: size)))")
    }

    /// A problem with a file that the service has to open.
    private func files() -> Finding? {
        for name in ["defaults.db", "defaults.db-wal", "defaults.db-shm", "lock"] {
            let path = "\(directory)/\(name)"
            guard let status = FileStatus.ifAny(path) else { continue }
            guard status.kind == .regular else {
                return .problem("database", "\(path) is not a regular file.", "Move it away.")
            }
            guard access(path, R_OK | W_OK) == 0 else {
                return .problem(
                    "database",
                    "\(path) cannot be read and written: \(SystemError.words(for: errno)).",
                    "chmod 600 \(ShellWord.quoted(path))")
            }
        }
        return nil
    }

    // MARK: Disk

    private func disk(_ directory: String) -> Finding {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else {
            return .warning(
                "disk", "\(directory): \(SystemError.words(for: errno)).",
                "Make sure that its disk is mounted.")
        }
        let (free, overflows) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        let room = overflows ? .max : free
        if status.f_files > 0, status.f_favail == 0 {
            return .problem(
                "disk", "The file system of \(directory) has no room for another file.",
                "Remove files from it.")
        }
        if room < Self.scarce {
            return .problem(
                "disk", "Only \(Amount.bytes(room)) are free, so no more backups are made.",
                "Make room on the file system of \(directory). \(reserve(in: directory))")
        }
        if room < Self.little {
            return .warning(
                "disk", "Only \(Amount.bytes(room)) are free.",
                "Make room on the file system of \(directory).")
        }
        return .ok("disk", "\(Amount.bytes(room)) are free.")
    }

    /// Whether values can be removed on a full disk.
    private func reserve(in directory: String) -> String {
        let status = FileStatus.ifAny("\(directory)/reserve")
        let isThere = status.map { $0.kind == .regular && $0.allocatedSize >= Self.reserved }
        return isThere == true
            ? "Removing values also works: space is reserved for it."
            : "The space reserved for removing values is used up, or was never reserved."
    }

    // MARK: Lock

    private func lock() -> Finding? {
        let path = "\(directory)/lock"
        guard let status = FileStatus.ifAny(path) else { return nil }
        guard let held = SystemLocks.holder(of: status.inode) else {
            return service == nil
                ? .ok("lock", "No process uses the database.")
                : .warning(
                    "lock", "The service's lock cannot be seen from here.",
                    "The service may use another directory, or run in another container.")
        }
        let words = (try? InputFile.contents(of: path, limit: 512))
            .map { String(decoding: $0, as: UTF8.self).prefix { $0 != "\n" } }
            .map { $0.split(whereSeparator: \.isWhitespace) }
        // A process that has just taken the lock may not have written its name yet.
        let (host, process) =
            if let words, words.count >= 2 {
                (String(words[0]), String(words[1]))
            } else {
                ("this one", "\(held)")
            }
        if let service, process == "\(service)" {
            return .ok("lock", "The service uses the database.")
        }
        return .problem(
            "lock",
            "Process \(process) on host \(host) uses the database, but does not answer in this session.",
            "It serves another session, or a program without a bus. Use the database there, or wait until that "
                + "session or program ends.")
    }

    // MARK: Backups and damage

    /// The backups in the directory, if there is no service to ask.
    private func backups() -> Finding? {
        guard service == nil else { return nil }
        let folder = "\(directory)/backups"
        let dates = Directory.readableNames(in: folder).compactMap {
            FileStatus.ifAny("\(folder)/\($0)").map { UInt64(clamping: $0.modified.tv_sec) }
        }
        guard let newest = dates.max() else { return .ok("backups", "There is none yet.") }
        return .ok("backups", "\(dates.count), the newest of \(LocalTime(newest).text)")
    }

    private func leftovers() -> Finding? {
        let aside = Directory.readableNames(in: directory).filter {
            $0.hasPrefix("defaults.db.aside-") && !$0.hasSuffix("-wal")
        }
        guard let last = aside.max() else { return nil }
        return .warning(
            "damage", "A damaged database was repaired, and kept as \(last).",
            "'defaultsctl status' says what was lost. Remove the file when you no longer need it.")
    }
}

/// The locks that the kernel lists.
///
/// Trying the lock would also show this, but could keep a daemon from starting at that moment.
enum SystemLocks {
    /// The process that has a flock(2) on a file; nil if there is none, or the kernel does not say.
    ///
    /// See [proc(5)](https://man7.org/linux/man-pages/man5/proc_locks.5.html).
    static func holder(of node: ino_t) -> Int32? {
        guard let bytes = try? InputFile.contents(of: "/proc/locks", limit: 1 << 22) else {
            return nil
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            // A process that waits for a lock has an arrow before the kind.
            guard words.count >= 6, words[1] == "FLOCK",
                words[5].split(separator: ":").last.flatMap({ ino_t($0) }) == node
            else { continue }
            return Int32(words[4])
        }
        return nil
    }
}
