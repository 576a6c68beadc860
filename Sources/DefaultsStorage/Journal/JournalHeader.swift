internal import DefaultsModel

/// The first bytes of a journal segment: which database it belongs to and what it proves.
///
///     offset  size
///          0     8  "dfltjrnl"
///          8     4  format, 1
///         12     4  size of the header
///         16    16  identity of the database
///         32    16  identity of the boot in which the segment was made
///         48     8  sequence number of the segment
///         56     8  sequence number of the oldest segment that is still needed
///         64     8  base: every later change is in this segment or one after it, or in the store
///         72     8  generation of the database when the segment was made
///         80     8  durable ceiling of generations at that time
///         88     8  salt of the records' checksums
///         96     8  XXH64 of the bytes above, seed 0
///
/// All integers stand lowest byte first.
struct JournalHeader: Equatable {
    static let size = 104
    private static let magic = Array("dfltjrnl".utf8)
    private static let format: UInt32 = 1
    /// The largest sequence number that a file may claim; counting on from there does not
    /// overflow.
    private static let largestSequence: UInt64 = 1 << 61

    let database: UniqueID
    let boot: UniqueID
    let sequence: UInt64
    let firstNeeded: UInt64
    let base: Generation
    let generation: Generation
    let ceiling: Generation
    /// A random number that enters the checksum of every record.
    ///
    /// A value that a client stores cannot pass for a record, as the client does not know it.
    let salt: UInt64
}

extension JournalHeader {
    /// The header of a new segment.
    ///
    /// - Parameter base: The counter's number, unless the segment takes over older changes.
    init(
        database: UniqueID, boot: UniqueID, sequence: UInt64, firstNeeded: UInt64,
        base: Generation? = nil, at counter: GenerationCounter
    ) {
        self.init(
            database: database, boot: boot, sequence: sequence, firstNeeded: firstNeeded,
            base: base ?? counter.current, generation: counter.current, ceiling: counter.ceiling,
            salt: .random(in: 0 ... .max))
    }

    /// The header as it stands in the file.
    var encoded: [UInt8] {
        var bytes = JournalHeader.magic
        bytes.append(littleEndian: JournalHeader.format)
        bytes.append(littleEndian: UInt32(JournalHeader.size))
        bytes += database.bytes + boot.bytes
        bytes.append(littleEndian: sequence)
        bytes.append(littleEndian: firstNeeded)
        for generation in [base, generation, ceiling] {
            bytes.append(littleEndian: generation.rawValue)
        }
        bytes.append(littleEndian: salt)
        bytes.append(littleEndian: XXH64.hash(bytes, seed: 0))
        return bytes
    }

    /// Reads a header; nil where the bytes are none, or damaged.
    init?(decoding bytes: [UInt8]) {
        let guarded = JournalHeader.size - MemoryLayout<UInt64>.size
        var reader = ByteReader(bytes)
        guard bytes.count == JournalHeader.size,
            reader.bytes(JournalHeader.magic.count) == JournalHeader.magic,
            reader.integer(UInt32.self) == JournalHeader.format,
            reader.integer(UInt32.self) == UInt32(JournalHeader.size),
            let database = reader.bytes(UniqueID.length).flatMap(UniqueID.init),
            let boot = reader.bytes(UniqueID.length).flatMap(UniqueID.init),
            let sequence = reader.integer(UInt64.self), sequence <= JournalHeader.largestSequence,
            let firstNeeded = reader.integer(UInt64.self), firstNeeded <= sequence,
            let base = reader.integer(UInt64.self).flatMap(Generation.init(fromFile:)),
            let generation = reader.integer(UInt64.self).flatMap(Generation.init(fromFile:)),
            let ceiling = reader.integer(UInt64.self).flatMap(Generation.init(fromFile:)),
            let salt = reader.integer(UInt64.self),
            reader.integer(UInt64.self) == XXH64.hash(Array(bytes.prefix(guarded)), seed: 0)
        else { return nil }
        self.init(
            database: database, boot: boot, sequence: sequence, firstNeeded: firstNeeded,
            base: base, generation: generation, ceiling: ceiling, salt: salt)
    }
}
