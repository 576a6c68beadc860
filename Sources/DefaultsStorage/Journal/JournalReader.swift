internal import DefaultsModel
internal import Glibc

/// Reads the records of a segment, and what can be read of a damaged one.
///
/// Where a record is damaged the reader looks for the next whole one and goes on there. A journal
/// beside the database may lose a page in its middle in a power cut; what stands behind it was
/// acknowledged as well, and each record is a whole change that needs no other. A record that the
/// file is too short for is no damage: it was being written when the process died, and nobody was
/// told of its number.
struct JournalReader: ~Copyable {
    /// What the reader came upon.
    enum Element {
        case change(ChangeSet)
        /// The beginning of a record, with which the file ends.
        case unfinished(offset: Int, length: Int)
        /// Bytes that are no record, up to the next one or to the end of the file.
        case damage(offset: Int, length: Int)
    }

    /// How much is read at once in the search for the next record.
    private static let searchWindow = 1 << 16

    let header: JournalHeader
    let size: Int
    private let file: File
    private var offset = JournalHeader.size

    /// Opens a segment; nil where its header is none, or damaged.
    init?(_ path: String) throws(SystemError) {
        let file = try File.regular(path, O_RDONLY | O_NOFOLLOW)
        let bytes = try file.read(JournalHeader.size, at: 0)
        guard let header = JournalHeader(decoding: bytes) else { return nil }
        size = try file.size()
        self.header = header
        self.file = file
    }

    /// The next record, or damage; nil at the end.
    mutating func next() throws(SystemError) -> Element? {
        guard offset < size else { return nil }
        let start = offset
        if let (change, end) = try record(at: start) {
            offset = end
            return .change(change)
        }
        if try isUnfinished(at: start) {
            offset = size
            return .unfinished(offset: start, length: size - start)
        }
        offset = try nextRecord(after: start) ?? size
        return .damage(offset: start, length: offset - start)
    }

    /// Whether a record begins here that ends beyond the file.
    private func isUnfinished(at start: Int) throws(SystemError) -> Bool {
        let bytes = try file.read(JournalRecord.headSize, at: start)
        guard bytes.count == JournalRecord.headSize else {
            return JournalRecord.magic.starts(with: bytes.prefix(JournalRecord.magic.count))
        }
        guard let head = JournalRecord.decodeHead(bytes, salt: header.salt) else { return false }
        return head.payloadSize > size - start - JournalRecord.headSize
    }

    /// The whole record at an offset, and where it ends.
    private func record(at start: Int) throws(SystemError) -> (ChangeSet, end: Int)? {
        guard let (head, payloadStart) = try head(at: start) else { return nil }
        let payload = try file.read(head.payloadSize, at: payloadStart)
        guard XXH64.hash(payload, seed: header.salt) == head.payloadChecksum,
            let change = JournalRecord.decodePayload(payload)
        else { return nil }
        return (change, payloadStart + head.payloadSize)
    }

    /// The head at an offset, where its payload lies within the file.
    private func head(
        at start: Int
    ) throws(SystemError) -> (JournalRecord.Head, payloadStart: Int)? {
        let bytes = try file.read(JournalRecord.headSize, at: start)
        guard let head = JournalRecord.decodeHead(bytes, salt: header.salt) else { return nil }
        let payloadStart = start + JournalRecord.headSize
        return head.payloadSize <= size - payloadStart ? (head, payloadStart) : nil
    }

    /// Where the next whole record begins; nil where there is none.
    private func nextRecord(after start: Int) throws(SystemError) -> Int? {
        var windowStart = start + 1
        while windowStart < size {
            // The windows overlap, so that each head lies whole in one of them.
            let window = try file.read(
                JournalReader.searchWindow + JournalRecord.headSize, at: windowStart)
            for index in window.indices.dropLast(JournalRecord.headSize)
            where window[index...].starts(with: JournalRecord.magic) {
                if try record(at: windowStart + index) != nil { return windowStart + index }
            }
            guard window.count > JournalReader.searchWindow else { return nil }
            windowStart += JournalReader.searchWindow
        }
        return nil
    }
}
