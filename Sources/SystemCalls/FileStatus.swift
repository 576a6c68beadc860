package import Glibc

/// What the file system knows of a file, as stat(2) gives it.
package struct FileStatus: Sendable {
    /// The kinds of files.
    package enum Kind: Sendable {
        case regular
        case directory
        case link
        case pipe
        case socket
        case device
    }

    private let status: stat

    private init(_ status: stat) {
        self.status = status
    }

    /// Looks at a path.
    ///
    /// - Parameter followingLinks: Whether the status is that of the file which a symbolic link leads to,
    ///   and not that of the link.
    package init(of path: String, followingLinks: Bool = true) throws(SystemError) {
        var status = stat()
        let result = followingLinks ? stat(path, &status) : lstat(path, &status)
        guard result == 0 else { throw .last(followingLinks ? "stat" : "lstat", path) }
        self.status = status
    }

    /// Looks at an open file.
    ///
    /// - Parameter path: What messages call it.
    package init(ofDescriptor number: Int32, named path: String = "") throws(SystemError) {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", path) }
        self.status = status
    }

    /// Looks at a path that begins at an open directory.
    package init(of path: String, in directory: borrowing File) throws(SystemError) {
        var status = stat()
        guard fstatat(directory.descriptor, path, &status, 0) == 0 else {
            throw .last("fstatat", "\(directory.path)/\(path)")
        }
        self.status = status
    }
}

extension FileStatus {
    /// The kind of the file.
    package var kind: Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .regular
        case S_IFDIR: .directory
        case S_IFLNK: .link
        case S_IFIFO: .pipe
        case S_IFSOCK: .socket
        default: .device
        }
    }

    /// The permission bits, with those for the set IDs and the sticky bit.
    package var mode: mode_t { status.st_mode & 0o7777 }

    /// The owner.
    package var owner: uid_t { status.st_uid }

    /// The group.
    package var group: gid_t { status.st_gid }

    /// The size in bytes.
    package var size: Int { Int(status.st_size) }

    /// The space on the disk, in bytes.
    package var allocatedSize: Int {
        // stat(2) counts in units of 512 bytes, whatever the size of a block is.
        Int(status.st_blocks) * 512
    }

    /// The number of its names (hard links).
    package var linkCount: Int { Int(status.st_nlink) }

    /// When its contents last changed.
    package var modified: timespec { status.st_mtim }

    /// The number of its device.
    package var device: dev_t { status.st_dev }

    /// Its number on the device.
    package var inode: ino_t { status.st_ino }

    /// The identity of the file, whatever its name.
    package var identity: FileIdentity { FileIdentity(self) }

    /// Whether there is a file.
    ///
    /// - Throws: `SystemError` if that is not known, because the path cannot be reached or its disk does not
    ///   answer. Where missing data is made anew, data that cannot be seen must not count as missing.
    package static func exists(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try FileStatus(of: path)
            return true
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
            return false
        }
    }

    /// The status of a path; nil if there is no file, or it cannot be reached.
    package static func ifAny(_ path: String, followingLinks: Bool = true) -> FileStatus? {
        try? FileStatus(of: path, followingLinks: followingLinks)
    }
}

/// What changes with the contents of a file.
package struct FileState: Sendable, Equatable {
    private let file: FileIdentity
    /// The size in bytes.
    package let size: Int
    /// The time of the last change of the contents, in seconds since 1970.
    package let seconds: Int
    private let nanoseconds: Int

    /// The state at the time of a status.
    package init(_ status: FileStatus) {
        (file, size) = (status.identity, status.size)
        (seconds, nanoseconds) = (status.modified.tv_sec, status.modified.tv_nsec)
    }
}

/// The identity of a file on this machine, whatever its names.
package struct FileIdentity: Sendable, Hashable {
    /// The number of its device.
    package let device: dev_t
    private let inode: ino_t

    fileprivate init(_ status: FileStatus) {
        device = status.device
        inode = status.inode
    }

    /// The identity of the file with this path; nil if there is none.
    package init?(of path: String) {
        guard let status = FileStatus.ifAny(path) else { return nil }
        self = status.identity
    }

    /// The identity of an open file; nil if no file is open under the number.
    package init?(ofDescriptor number: Int32) {
        guard let status = try? FileStatus(ofDescriptor: number) else { return nil }
        self = status.identity
    }

    init(device: dev_t, inode: ino_t) {
        self.device = device
        self.inode = inode
    }

    /// Takes one out that another process has put in; nil if there is none.
    package init?(takenFrom parcel: inout Parcel) {
        guard let device = parcel.takeNumber(), let inode = parcel.takeNumber() else { return nil }
        self.init(device: dev_t(device), inode: ino_t(inode))
    }

    /// Adds it to what another process gets.
    package func put(into parcel: inout Parcel) {
        parcel.put(UInt64(device))
        parcel.put(UInt64(inode))
    }

    /// Whether two paths lead to the same file; false if one leads to none.
    package static func areSame(_ path: String, _ other: String) -> Bool {
        guard let identity = FileIdentity(of: path) else { return false }
        return identity == FileIdentity(of: other)
    }

    /// Whether the file no longer has this path: nothing has it, or another file.
    ///
    /// If the permission to look was taken away, the file counts as unmoved: what is written through an
    /// open descriptor still reaches the disk.
    package func hasLost(_ path: String) -> Bool {
        do throws(SystemError) {
            return try FileStatus(of: path).identity != self
        } catch {
            return error.number == ENOENT || error.number == ENOTDIR
        }
    }

    /// Whether a descriptor's number still means this file.
    ///
    /// Also true if the system does not say.
    package func isHeld(byDescriptor number: Int32) -> Bool {
        do throws(SystemError) {
            return try FileStatus(ofDescriptor: number).identity == self
        } catch {
            return error.number != EBADF
        }
    }
}
