internal import Glibc

/// Space that is kept beside the store for the time when the disk is full.
///
/// What is removed has to be written to the log before anything is given back to the disk: without
/// such space a full disk could not be healed by removing. So a flush that removes something gets it,
/// where the disk is full, and it is made again when there is room. A flush that only adds does not
/// get it, nor one that also adds much: the disk would be full again, and the reserve gone.
///
/// The size is more than the removal of 200 MiB of values of a page and more each writes, which is
/// 3 MiB. Very many small values of one domain need next to nothing, see ``DroppedDomains``. Removing
/// them key by key needs more: each page that held several of them is written once.
struct DiskReserve {
    private static let name = "reserve"
    /// What it takes up, in bytes: 4 MiB.
    static let size = 4 << 20
    /// What the disk must have for it to be made, in bytes: 32 MiB.
    static let room = 8 * size
    /// The size of the values that a flush may add which gets it, in bytes: 2 MiB.
    static let mostAdded = size / 2

    /// What `st_blocks` counts, in bytes.
    private static let blockSize = 512

    private let directory: PrivateDirectory
    private var path: String { directory.file(DiskReserve.name) }

    init(in directory: PrivateDirectory) {
        self.directory = directory
    }

    /// Whether it is there, with all its space: a copy that a program has made of it may have none.
    var isThere: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_size == off_t(DiskReserve.size)
            && status.st_blocks * DiskReserve.blockSize >= DiskReserve.size
    }

    /// Makes it, where it is missing and the disk has room.
    ///
    /// - Returns: Whether it is of use to try it again later. It is not on a file system that gives no
    ///   space to zeros.
    func make() -> Bool {
        guard !isThere, let free = try? directory.freeSpace(), free >= DiskReserve.room else {
            return true
        }
        return !takeBack() || isThere
    }

    /// Makes it, however little room there is: right after its release has not helped.
    ///
    /// - Returns: Whether the file system has taken it.
    @discardableResult
    func takeBack() -> Bool {
        // What else bears its name is somebody's, unless it is the beginning of one.
        (try? allocate()) != nil
    }

    private func allocate() throws(SystemError) {
        let file = try File.regular(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        try file.setMode(0o600)
        let code = posix_fallocate(file.descriptor, 0, off_t(DiskReserve.size))
        guard code == 0 else {
            try? directory.remove(DiskReserve.name)
            throw SystemError(call: "posix_fallocate", path: path, number: code)
        }
    }

    /// Gives its space to the disk.
    ///
    /// - Returns: Whether there was some.
    func release() -> Bool {
        guard isThere else { return false }
        return (try? directory.remove(DiskReserve.name)) != nil
    }
}
