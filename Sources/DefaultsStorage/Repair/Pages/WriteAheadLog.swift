internal import Glibc
internal import SystemCalls

/// The write-ahead log of a store on disk, read without SQLite.
///
/// SQLite reads a log up to the first frame with a wrong checksum, and drops the rest. After a
/// power cut that is right: the rest is the transaction that was being written. But if a bit has
/// flipped, the rest has transactions that were on disk.
///
/// The checksum tells a flipped bit from other damage. So the transaction is known to be whole but for
/// that page, and earlier versions of its other pages are not needed: they have keys that were removed.
/// If the checksum also tells which bit it is, that is flipped back.
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
        /// Whether SQLite reads it: its checksum is correct, and it belongs to this log.
        let isSound: Bool
        /// Whether its page is as it was written, if need be with a bit flipped back.
        let isWhole: Bool
        /// Whether it was written here, after the frame before it: at most one bit is wrong.
        let isInPlace: Bool
        /// The bit of the page that is flipped back.
        var flipped: FlippedBit?
        /// Whether all frames of its transaction are in their places.
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
        guard try FileStatus.exists(path) else { return nil }
        let file = try File.regular(path, O_RDONLY)
        let bytes = try file.read(WriteAheadLog.headerSize, at: 0)
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        let header = Header(decoding: bytes)
        // SQLite writes a new header with the first frame after a checkpoint, when nothing after
        // the header is needed.
        if header == nil && mayBeTorn { return nil }
        return try WriteAheadLog(
            file, after: header ?? Header(correcting: bytes), isHeaderSound: header != nil,
            mayBeTorn: mayBeTorn)
    }

    /// Whether the log beside a store has something that SQLite does not recognize as a log.
    ///
    /// SQLite then treats the log as empty.
    static func isUnusable(of store: String) throws(SystemError) -> Bool {
        guard try FileStatus.exists("\(store)-wal") else { return false }
        let file = try File.regular("\(store)-wal", O_RDONLY)
        let bytes = try file.read(WriteAheadLog.headerSize, at: 0)
        return !bytes.isEmpty && Header(decoding: bytes) == nil
    }

    private init(
        _ file: consuming File, after header: Header?, isHeaderSound: Bool, mayBeTorn: Bool
    ) throws(SystemError) {
        pageSize = header?.pageSize ?? .ours
        var (transactions, isFollowed) = try WriteAheadLog.transactions(
            in: file, pageSize, after: header, mayBeTorn: mayBeTorn)
        // A transaction is written when the previous one is on disk, so only the last can be
        // incomplete. What seems to follow it can be the ends of earlier incomplete transactions:
        // SQLite overwrites them without a new salt. Their first frames do not fit, so none of them
        // is whole.
        if mayBeTorn, !isFollowed {
            while let last = transactions.last, !last.allSatisfy(\.isSound) {
                transactions.removeLast()
            }
        }
        isDamaged =
            !isHeaderSound && !transactions.isEmpty
            || transactions.contains { !$0.allSatisfy(\.isSound) }
        for index in transactions.indices where !transactions[index].allSatisfy(\.isInPlace) {
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
        var bytes = try file.readable(
            pageSize.whole, at: frame.offset + WriteAheadLog.frameHeaderSize)
        if let flipped = frame.flipped { bytes?[flipped.offset] ^= flipped.mask }
        return bytes
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
                current.append(.unreadable(at: offset))
                continue
            }
            guard let bytes = try file.readable(step, at: offset) else {
                current.append(.unreadable(at: offset))
                continue
            }
            salt = salt ?? Array(bytes[8..<16])
            let hasSalt = salt.map { bytes[8..<16].elementsEqual($0) } ?? false
            let big = header?.isBigEndian ?? false
            guard let read = ReadFrame(bytes, after: sum, hasSalt: hasSalt, isBigEndian: big),
                let frame = read.frame(at: offset)
            else { break }
            current.append(frame)
            guard read.isOurs else { continue }
            sum = read.sum
            // An incomplete write may have mixed the headers of two frames.
            let isBelieved = frame.isSound || !mayBeTorn || isInOneSector(offset)
            if frame.databaseSize > 0 && isBelieved {
                transactions.append(current)
                current = []
            }
        }
        return (transactions, isFollowed: current.first?.isSound == true)
    }
}

extension WriteAheadLog.Frame {
    fileprivate static func unreadable(at offset: Int) -> Self {
        Self(page: 0, offset: offset, isSound: false, isWhole: false, isInPlace: false)
    }
}

/// The bytes of a frame, with what is wrong with them.
private struct ReadFrame {
    private var bytes: [UInt8]
    private let hasSalt: Bool
    /// Whether the checksum is correct.
    private let fits: Bool
    /// The bits one of which has flipped.
    private var flipped: [FlippedBit] = []
    /// Whether only the stored checksum is wrong.
    private var isChecksumDamaged = false
    /// The checksum after it.
    ///
    /// By the stored one, the next frame can be checked even if this one is damaged.
    let sum: LogChecksum

    /// - Parameter before: The checksum up to here; nil if it is not known.
    init?(_ bytes: [UInt8], after before: LogChecksum?, hasSalt: Bool, isBigEndian: Bool) {
        guard let stored = LogChecksum(in: bytes, at: 16, isBigEndian: isBigEndian) else {
            return nil
        }
        (self.bytes, self.hasSalt) = (bytes, hasSalt)
        let covered = [bytes[..<8], bytes[WriteAheadLog.frameHeaderSize...]]
        var actual = before
        for piece in covered { actual?.add(piece) }
        fits = actual == stored
        guard let actual, !fits, hasSalt else {
            sum = stored
            return
        }
        isChecksumDamaged = actual.isOneBit(from: stored)
        sum = isChecksumDamaged ? actual : stored
        guard !isChecksumDamaged else { return }
        flipped = stored.flippedBits(in: covered, giving: actual)
        if let onlyFlipped { self.bytes[onlyFlipped.offset] ^= onlyFlipped.mask }
    }

    /// The bit that is flipped back.
    private var onlyFlipped: FlippedBit? { flipped.count == 1 ? flipped.first : nil }

    /// Whether it is a frame of this log.
    ///
    /// The checksum continues that of the previous frame and does not cover the salt. So a frame of an
    /// earlier log does not match. If a frame matches, only its salt can be damaged.
    var isOurs: Bool { hasSalt || fits }

    func frame(at offset: Int) -> WriteAheadLog.Frame? {
        guard let page = bytes.uint32(at: 0), let size = bytes.uint32(at: 4) else { return nil }
        let header = WriteAheadLog.frameHeaderSize
        let inPage = onlyFlipped.flatMap {
            $0.offset < header ? nil : FlippedBit(offset: $0.offset - header, mask: $0.mask)
        }
        let isRight = fits || isChecksumDamaged
        return WriteAheadLog.Frame(
            page: page, offset: offset, databaseSize: size, isSound: hasSalt && fits,
            isWhole: isRight || onlyFlipped != nil, isInPlace: isRight || !flipped.isEmpty,
            flipped: inPage)
    }
}

/// The header of a log.
private struct Header {
    private static let magic = 0x377F_0682

    let pageSize: PageSize
    let salt: [UInt8]
    let isBigEndian: Bool
    let sum: LogChecksum

    /// Nil if the bytes are not a valid header.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count == WriteAheadLog.headerSize, let magic = bytes.uint32(at: 0),
            magic & ~1 == Header.magic,
            let pageSize = bytes.uint32(at: 8).flatMap(PageSize.init(claimed:)),
            let stored = LogChecksum(in: bytes, at: 24, isBigEndian: magic & 1 == 1)
        else { return nil }
        isBigEndian = magic & 1 == 1
        var sum = LogChecksum(isBigEndian: isBigEndian)
        sum.add(bytes[..<24])
        guard sum == stored else { return nil }
        self.pageSize = pageSize
        self.sum = sum
        salt = Array(bytes[16..<24])
    }

    /// Reads a header in which one bit has flipped; nil if more is wrong.
    init?(correcting bytes: [UInt8]) {
        let headers = bytes.indices.lazy.flatMap { index in
            (0..<8).lazy.compactMap { bit in
                var corrected = bytes
                corrected[index] ^= 1 << UInt8(bit)
                return Header(decoding: corrected)
            }
        }
        guard let header = headers.first else { return nil }
        self = header
    }
}
