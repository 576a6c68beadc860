internal import Glibc
internal import SystemCalls

/// Numbers in SQLite's files are big-endian.
extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// The number of two bytes at an offset; nil past the end.
    func uint16(at offset: Int) -> Int? {
        number(at: offset, bytes: 2)
    }

    /// The number of four bytes at an offset; nil past the end.
    func uint32(at offset: Int) -> Int? {
        number(at: offset, bytes: 4)
    }

    /// A 64-bit number of variable length, with its length in bytes; nil past the end.
    ///
    /// See [the variable-length integers](https://www.sqlite.org/fileformat2.html#varint).
    func varint(at offset: Int) -> (value: Int64, length: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            let place = offset + index
            guard indices.contains(place) else { return nil }
            if index == 8 {
                return (Int64(bitPattern: value << 8 | UInt64(self[place])), 9)
            }
            value = value << 7 | UInt64(self[place] & 0x7F)
            if self[place] & 0x80 == 0 { return (Int64(bitPattern: value), index + 1) }
        }
        return nil
    }

    private func number(at offset: Int, bytes count: Int) -> Int? {
        guard offset >= startIndex, offset <= endIndex - count else { return nil }
        return self[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The page size of a database file, and what follows from it.
///
/// See [the database header](https://www.sqlite.org/fileformat2.html#the_database_header).
struct PageSize: Equatable {
    /// The size of a page in bytes.
    let whole: Int

    /// The page size of new stores.
    static let ours = PageSize(whole: 4096)

    /// Makes the page size that a file claims, where 1 means 65 536; nil if it is not valid.
    init?(claimed size: Int) {
        let size = size == 1 ? 65536 : size
        guard (512...65536).contains(size), size & (size - 1) == 0 else { return nil }
        whole = size
    }

    private init(whole: Int) {
        self.whole = whole
    }

    /// The largest part of a record that is in a leaf page of a table.
    var largestInTable: Int { whole - 35 }

    /// The largest part of a record that is in a page of an index.
    var largestInIndex: Int { (whole - 12) * 64 / 255 - 23 }

    /// How much of a record is in its cell.
    ///
    /// The rest is on overflow pages.
    ///
    /// - Parameter largest: The most that can be in a cell.
    func local(of length: Int, largest: Int) -> Int {
        guard length > largest else { return length }
        let smallest = (whole - 12) * 32 / 255 - 23
        let local = smallest + (length - smallest) % (whole - 4)
        return local <= largest ? local : smallest
    }
}

/// The pages in which SQLite records, for each page, which other page refers to it.
///
/// They hold no rows. A store of an earlier version does not have such pages.
///
/// See [Pointer map pages](https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages).
enum PointerMap {
    /// The length of an entry: a byte for the kind of a page, and the number of the page that refers to it.
    private static let entryLength = 5
    private static let kinds: ClosedRange<UInt8> = 0...5

    /// Whether a page is at the position of a map, and every entry looks like one of a map.
    ///
    /// A page of rows does not look like that, because its type, or its first number, is not one of
    /// the types in a map.
    static func isPage(_ bytes: [UInt8], number: Int, size: PageSize) -> Bool {
        let entries = size.whole / entryLength
        guard number >= 2, (number - 2) % (entries + 1) == 0, bytes.count == size.whole else {
            return false
        }
        return (0..<entries).allSatisfy { kinds.contains(bytes[$0 * entryLength]) }
    }
}

/// The pages of a store on disk: those of the file, replaced by those of the write-ahead log.
///
/// Of the header of the file, only the page size is trusted.
final class StorePages {
    let pageSize: PageSize
    /// The highest page number.
    let count: Int
    private let file: File?
    private let log: WriteAheadLog?
    private var overflowLeft: Int
    private let progress: Progress?
    /// How many reads of pages failed.
    private(set) var unreadable = 0

    /// Opens the files of a store that exist.
    ///
    /// - Parameters:
    ///   - mayBeTorn: See `WriteAheadLog`.
    ///   - progress: Counts the pages that are read.
    init(
        of path: String, mayBeTorn: Bool, progress: Progress? = nil
    ) throws(SystemError) {
        self.progress = progress
        log = try WriteAheadLog.open(of: path, mayBeTorn: mayBeTorn)
        file = try FileStatus.exists(path) ? File.regular(path, O_RDONLY) : nil
        let claimed = try file?.read(18, at: 0).uint16(at: 16) ?? 0
        pageSize = log?.pageSize ?? PageSize(claimed: claimed) ?? .ours
        let size = try file?.sizeOfData() ?? 0
        // The last page of a truncated file may be incomplete.
        let pages = size / pageSize.whole + (size % pageSize.whole > 0 ? 1 : 0)
        count = max(pages, log?.lastPage(afterFileOf: pages) ?? 0)
        overflowLeft = 4 * count
    }

    /// The numbers of the pages that may have contents, in order: all except those in holes of the file.
    var numbers: some Sequence<Int> {
        let logged = log?.pages ?? []
        var index = 0
        return sequence(first: 0) { [self] page in
            while index < logged.count, logged[index] <= page { index += 1 }
            let inFile = file?.nextData(from: page * pageSize.whole).map { $0 / pageSize.whole + 1 }
            let inLog = index < logged.count ? logged[index] : nil
            return [inFile, inLog].compactMap(\.self).min().flatMap { $0 <= count ? $0 : nil }
        }.dropFirst()
    }

    /// The number of versions of a page.
    func versions(of page: Int) -> Int {
        (log?.versions(of: page).count ?? 0) + 1
    }

    /// One version of a page.
    struct Version {
        let bytes: [UInt8]
        /// Whether the page is complete and, as far as it can be checked, undamaged.
        let isWhole: Bool
        /// Whether the version was certainly committed.
        let isCertain: Bool
    }

    /// Reads a version of a page; nil if it does not exist.
    ///
    /// Missing bytes are zero.
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

    /// Takes a number of overflow pages from the budget.
    ///
    /// The budget ends loops, because damaged links may lead to the same pages many times.
    ///
    /// - Returns: Whether the budget was large enough.
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
    /// Reads like `read(_:at:)`; nil if the disk cannot read that part.
    func readable(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            return try read(count, at: offset)
        } catch {
            guard error.number == EIO else { throw error }
            return nil
        }
    }
}

/// Reports at intervals that long work continues.
///
/// The service manager ends a start that takes too long, unless it gets such reports.
final class Progress {
    /// The interval between two reports.
    static let interval = Duration.seconds(5)
    /// How many steps there are between two checks of the clock.
    private static let stepsPerLook = 1024

    private let interval: Duration
    private let report: (Int) -> Void
    private var steps = 0
    private var lastReport = ContinuousClock.now

    /// - Parameters:
    ///   - interval: The shortest interval between two reports.
    ///   - report: Called with the number of steps so far.
    init(every interval: Duration = Progress.interval, _ report: @escaping (Int) -> Void) {
        self.interval = interval
        self.report = report
    }

    /// Notes a step.
    func step() {
        steps += 1
        guard steps % Progress.stepsPerLook == 0, lastReport.duration(to: .now) >= interval else {
            return
        }
        lastReport = .now
        report(steps)
    }
}
