internal import Glibc
internal import SystemCalls

/// Space beside the store that is reserved for the time when the disk is full.
///
/// A removal is written to the log before it gives any space back to the disk. Without the reserve,
/// removing values would not help on a full disk. So a flush that removes something gets the reserve if
/// the disk is full. It is made again when there is room. A flush that only adds values does not get it,
/// nor does one that also adds much: the disk would be full again, and the reserve gone.
///
/// The reserve is larger than what a removal of 200 MiB writes, if each value takes up a page or more:
/// this is 3 MiB. A domain that is removed as a whole needs next to nothing (``DroppedDomains``).
/// Removing many smaller values one by one needs more, because each page that held several of them is
/// written once.
struct DiskReserve {
    private static let name = "reserve"
    /// How many bytes it takes up: 4 MiB.
    static let size = 4 << 20
    /// How many bytes must be free on the disk before it is made: 32 MiB.
    static let room = 8 * size
    /// How many bytes of values a flush may add and still get it: 2 MiB.
    static let mostAdded = size / 2

    private let directory: PrivateDirectory
    private var path: String { directory.file(DiskReserve.name) }

    init(in directory: PrivateDirectory) {
        self.directory = directory
    }

    /// Whether it is there and takes up its space: a copy of it may be a file without blocks.
    var isThere: Bool {
        guard let status = FileStatus.ifAny(path, followingLinks: false) else { return false }
        return status.kind == .regular && status.linkCount == 1
            && status.size == DiskReserve.size
            && status.allocatedSize >= DiskReserve.size
    }

    /// Makes it if it is missing and the disk has room.
    ///
    /// - Returns: Whether it is worth trying again later: not on a file system that gives no space to
    ///   zeros.
    func make() -> Bool {
        guard !isThere, let free = try? directory.freeSpace(), free >= DiskReserve.room else {
            return true
        }
        return !takeBack() || isThere
    }

    /// Makes it again, however little room there is, right after its release has not helped.
    ///
    /// - Returns: Whether the file could be made.
    @discardableResult
    func takeBack() -> Bool {
        (try? allocate()) != nil
    }

    private func allocate() throws(SystemError) {
        // A file with one name may be an unfinished reserve. Nothing else of this name is ours.
        _ = try directory.setStrangeAside(DiskReserve.name)
        let file = try File.regular(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        try file.setMode(0o600)
        do throws(SystemError) {
            try file.allocate(DiskReserve.size)
        } catch {
            try? directory.remove(DiskReserve.name)
            throw error
        }
    }

    /// Gives its space back to the disk.
    ///
    /// - Returns: Whether there was a reserve.
    func release() -> Bool {
        guard isThere else { return false }
        return (try? directory.remove(DiskReserve.name)) != nil
    }
}
