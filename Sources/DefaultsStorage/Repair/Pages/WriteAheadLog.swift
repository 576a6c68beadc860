internal import Glibc
internal import SystemCalls

/// The write-ahead log of a store on disk, read without SQLite.
///
/// SQLite reads a log up to the first frame with a wrong checksum, and drops the rest. After a
/// power cut that is right: the rest is the transaction that was being written. But if a bit has
/// flipped, the rest has transactions that were on disk.
///
/// See [the WAL file format](https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
final class WriteAheadLog {
    static let headerSize = 32
    static let frameHeaderSize = 24
    /// The smallest sector of disks, in bytes.
    private static let sectorSize = 512

    /// A page as one transaction wrote it.
    struct Frame {
        let page: Int
        let offset: Int
        /// How many pages the database has after it; 0 unless it is the last frame of a transaction.
        var databaseSize = 0
        /// Whether its checksum is correct.
        let isWhole: Bool
        /// Whether the checksums of all frames of its transaction are correct.
        ///
        /// Otherwise they may be the rest of a transaction that was rolled back and partly
        /// overwritten by the next one.
        var isCertain = true
    }

    let pageSize: PageSize
    /// Whether transactions that were on disk are damaged.
    let isDamaged: Bool
    /// How many pages the database has after the last transaction; nil if there is none.
    let databaseSize: Int?
    private let file: File
    /// The frames of each page, the oldest first.
    private let frames: [Int: [Frame]]
    private let frameCount: Int

    /// Reads the log beside a store; nil if it does not exist or is empty.
    ///
    /// - Parameter mayBeTorn: Whether the machine may have stopped while the log was written, so
    ///   that its last transaction may be incomplete.
    static func open(of store: String, mayBeTorn: Bool) throws(SystemError) -> WriteAheadLog? {
        let path = "\(store)-wal"
        guard access(path, F_OK) == 0 else { return nil }
        let file = try File.regular(path, O_RDONLY)
        let bytes = try file.read(WriteAheadLog.headerSize, at: 0)
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        let header = Header(decoding: bytes)
        // SQLite writes a new header with the first frame after a checkpoint, when nothing after
        // the header is needed.
        if header == nil && mayBeTorn { return nil }
        return try WriteAheadLog(file, after: header, mayBeTorn: mayBeTorn)
    }

    /// Whether the log beside a store has something that SQLite does not recognize as a log.
    ///
    /// SQLite then treats the log as empty.
    static func isUnusable(of store: String) throws(SystemError) -> Bool {
        guard access("\(store)-wal", F_OK) == 0 else { return false }
        let file = try File.regular("\(store)-wal", O_RDONLY)
        let bytes = try file.read(WriteAheadLog.headerSize, at: 0)
        return !bytes.isEmpty && Header(decoding: bytes) == nil
    }

    private init(
        _ file: consuming File, after header: Header?, mayBeTorn: Bool
    ) throws(SystemError) {
        pageSize = header?.pageSize ?? .ours
        var (transactions, isFollowed) = try WriteAheadLog.transactions(
            in: file, pageSize, after: header, mayBeTorn: mayBeTorn)
        // A transaction is written when the previous one is on disk, so only the last can be
        // incomplete. What seems to follow it can be the ends of earlier incomplete transactions:
        // SQLite overwrites them without a new salt. Their first frames do not fit, so none of them
        // is whole.
        if mayBeTorn, !isFollowed {
            while let last = transactions.last, !last.allSatisfy(\.isWhole) {
                transactions.removeLast()
            }
        }
        isDamaged =
            header == nil && !transactions.isEmpty
            || transactions.contains { !$0.allSatisfy(\.isWhole) }
        for index in transactions.indices where !transactions[index].allSatisfy(\.isWhole) {
            for frame in transactions[index].indices {
                transactions[index][frame].isCertain = false
            }
        }
        databaseSize = transactions.last?.last?.databaseSize
        frames = Dictionary(grouping: transactions.joined(), by: \.page)
        frameCount = transactions.reduce(0) { $0 + $1.count }
        self.file = file
    }

    /// The versions of a page in the log, the oldest first.
    func versions(of page: Int) -> [Frame] { frames[page] ?? [] }

    /// The numbers of the pages in the log, in order.
    var pages: [Int] { frames.keys.sorted() }

    /// The highest page number in the log.
    ///
    /// An impossible number is ignored: a database grows page by page.
    ///
    /// - Parameter size: The number of pages of the file.
    func lastPage(afterFileOf size: Int) -> Int {
        frames.keys.filter { $0 <= size + frameCount }.max() ?? 0
    }

    /// Reads one version of a page.
    ///
    /// - Returns: Nil if the disk cannot read it.
    func read(_ frame: Frame) throws(SystemError) -> [UInt8]? {
        try file.readable(
            pageSize.whole, at: frame.offset + WriteAheadLog.frameHeaderSize)
    }

    /// Whether the header of a frame is in one sector.
    ///
    /// A disk writes a sector completely or not at all.
    private static func isInOneSector(_ offset: Int) -> Bool {
        offset / sectorSize == (offset + frameHeaderSize - 1) / sectorSize
    }

    /// The transactions of this log, and whether the beginning of another one follows them.
    ///
    /// After that comes the rest of an earlier log, which has another salt.
    ///
    /// - Parameter header: Nil if it is lost. Then the salt is that of the first frame.
    private static func transactions(
        in file: borrowing File, _ pageSize: PageSize, after header: Header?, mayBeTorn: Bool
    ) throws(SystemError) -> ([[Frame]], isFollowed: Bool) {
        let step = frameHeaderSize + pageSize.whole
        let end = try file.size() - step
        var nextData = headerSize
        var salt = header?.salt
        var sum = header?.sum
        var transactions: [[Frame]] = []
        var current: [Frame] = []
        for offset in stride(from: headerSize, through: end, by: step)
        where offset + step > nextData {
            guard let data = file.nextData(from: offset) else { break }
            nextData = data
            if data >= offset + step {
                // One frame stands for all in a hole of the file.
                current.append(Frame(page: 0, offset: offset, isWhole: false))
                continue
            }
            guard let bytes = try file.readable(step, at: offset) else {
                current.append(Frame(page: 0, offset: offset, isWhole: false))
                continue
            }
            guard let page = bytes.uint32(at: 0), let commit = bytes.uint32(at: 4),
                let stored = Checksum(in: bytes, at: 16, isBigEndian: header?.isBigEndian ?? false)
            else { break }
            salt = salt ?? Array(bytes[8..<16])
            let hasSalt = salt.map { bytes[8..<16].elementsEqual($0) } ?? false
            var expected = sum
            expected?.add(bytes[..<8])
            expected?.add(bytes[frameHeaderSize...])
            // The checksum continues that of the previous frame and does not cover the salt. So a
            // frame of an earlier log does not match. If a frame matches, only its salt can be
            // damaged.
            let fits = expected == stored
            let isOurs = hasSalt || fits
            let isWhole = hasSalt && fits
            current.append(
                Frame(page: page, offset: offset, databaseSize: commit, isWhole: isWhole))
            guard isOurs else { continue }
            // With the stored checksum, the next frame can be checked even if this one is damaged.
            sum = stored
            // An incomplete write may have mixed the headers of two frames.
            let isBelieved = isWhole || !mayBeTorn || isInOneSector(offset)
            if commit > 0 && isBelieved {
                transactions.append(current)
                current = []
            }
        }
        return (transactions, isFollowed: current.first?.isWhole == true)
    }
}

/// The header of a log.
private struct Header {
    private static let magic = 0x377F_0682

    let pageSize: PageSize
    let salt: [UInt8]
    let isBigEndian: Bool
    let sum: Checksum

    /// Nil if the bytes are not a valid header.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count == WriteAheadLog.headerSize, let magic = bytes.uint32(at: 0),
            magic & ~1 == Header.magic,
            let pageSize = bytes.uint32(at: 8).flatMap(PageSize.init(claimed:)),
            let stored = Checksum(in: bytes, at: 24, isBigEndian: magic & 1 == 1)
        else { return nil }
        isBigEndian = magic & 1 == 1
        var sum = Checksum(isBigEndian: isBigEndian)
        sum.add(bytes[..<24])
        guard sum == stored else { return nil }
        self.pageSize = pageSize
        self.sum = sum
        salt = Array(bytes[16..<24])
    }
}

/// The running checksum of a log.
///
/// See [the checksum algorithm](https://www.sqlite.org/fileformat2.html#checksum_algorithm).
private struct Checksum: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isBigEndian: Bool

    init(isBigEndian: Bool) {
        self.isBigEndian = isBigEndian
    }

    /// Reads the two stored numbers; nil past the end.
    init?(in bytes: [UInt8], at offset: Int, isBigEndian: Bool) {
        guard let first = bytes.uint32(at: offset), let second = bytes.uint32(at: offset + 4) else {
            return nil
        }
        (self.first, self.second) = (UInt32(first), UInt32(second))
        self.isBigEndian = isBigEndian
    }

    /// Continues with bytes, eight at a time.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            // Each load reads four bytes before the end of the buffer.
            for offset in stride(from: 0, through: buffer.count - 8, by: 8) {
                let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
                second &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
            }
        }
    }
}
