internal import Glibc

/// The pages of a store as they stand on disk: those of the file, and over them those of the
/// write-ahead log.
///
/// Nothing here believes what the header of the file says, but for the size of a page.
final class StorePages {
    let pageSize: PageSize
    /// The highest number that a page has.
    let count: Int
    private let file: File?
    private let log: WriteAheadLog?
    private var overflowLeft: Int
    private let progress: Progress?
    /// How often the medium did not give a page.
    private(set) var unreadable = 0

    /// Opens what there is of a store.
    ///
    /// - Parameters:
    ///   - mayBeTorn: As `WriteAheadLog` takes it.
    ///   - progress: Told of each page that is read.
    init(
        of path: String, mayBeTorn: Bool, progress: Progress? = nil
    ) throws(SystemError) {
        self.progress = progress
        log = try WriteAheadLog.open(of: path, mayBeTorn: mayBeTorn)
        file = access(path, F_OK) == 0 ? try File.regular(path, O_RDONLY) : nil
        let claimed = try file?.read(18, at: 0).uint16(at: 16) ?? 0
        pageSize = log?.pageSize ?? PageSize(claimed: claimed) ?? .ours
        let size = try file?.size() ?? 0
        // The last page of a file that was cut may be there in part.
        let pages = size / pageSize.whole + (size % pageSize.whole > 0 ? 1 : 0)
        count = max(pages, log?.lastPage(afterFileOf: pages) ?? 0)
        overflowLeft = 4 * count
    }

    /// How many versions of a page there are.
    func versions(of page: Int) -> Int {
        (log?.versions(of: page).count ?? 0) + 1
    }

    /// A page at some time.
    struct Version {
        let bytes: [UInt8]
        /// Whether all of it is there, bit for bit as far as can be told.
        let isWhole: Bool
        /// Whether it was ever that of the database.
        let isCertain: Bool
    }

    /// Reads a version of a page; nil where there is none.
    ///
    /// What is missing of it is zero.
    ///
    /// - Parameters:
    ///   - page: Its number; the first is 1.
    ///   - age: 0 for the newest version, 1 for the one before it, and so on.
    func read(_ page: Int, age: Int = 0) throws(SystemError) -> Version? {
        progress?.step()
        if let frames = log?.versions(of: page), frames.count > age {
            let frame = frames[frames.count - 1 - age]
            guard let bytes = try log?.read(frame) else { return noteUnreadable() }
            return Version(bytes: bytes, isWhole: frame.isWhole, isCertain: frame.isCertain)
        }
        guard page >= 1, page <= count, file != nil else { return nil }
        guard let bytes = try file?.readable(pageSize.whole, at: (page - 1) * pageSize.whole) ?? nil
        else { return noteUnreadable() }
        guard !bytes.isEmpty else { return nil }
        let missing = pageSize.whole - bytes.count
        return Version(
            bytes: bytes + [UInt8](repeating: 0, count: missing), isWhole: missing == 0,
            isCertain: true)
    }

    /// Takes a number of overflow pages from those that may be read.
    ///
    /// Damaged links may lead to the same pages again and again.
    ///
    /// - Returns: Whether there were so many left.
    func takeOverflow(_ pages: Int) -> Bool {
        guard pages <= overflowLeft else { return false }
        overflowLeft -= pages
        return true
    }

    private func noteUnreadable() -> Version? {
        unreadable += 1
        return nil
    }
}

extension File {
    /// Reads as `read(_:at:)` does; nil where the medium does not give that part.
    func readable(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try read(count, at: offset)
        } catch {
            guard error.number == EIO else { throw error }
            return nil
        }
    }
}
