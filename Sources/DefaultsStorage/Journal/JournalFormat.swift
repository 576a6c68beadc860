internal import DefaultsModel

/// The first bytes of a journal segment: which database it belongs to and what it proves.
///
///     offset  size
///          0     8  "dfltjrnl"
///          8     4  format: 2, or 1 if no change has a note
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
    /// The format of segments without notes, which earlier versions read, too.
    static let plainFormat: UInt32 = 1
    /// The format of segments whose changes have notes.
    ///
    /// An earlier version would set them aside. It does not get that far: the schema of the store is newer
    /// before the first such segment is made.
    static let notedFormat: UInt32 = 2
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
    /// Whether its changes have notes for the history.
    let isNoted: Bool
}

extension JournalHeader {
    /// The header of a new segment.
    ///
    /// - Parameter base: The counter's number, unless the segment takes over older changes.
    init(
        database: UniqueID, boot: UniqueID, sequence: UInt64, firstNeeded: UInt64,
        base: Generation? = nil, at counter: GenerationCounter, isNoted: Bool
    ) {
        self.init(
            database: database, boot: boot, sequence: sequence, firstNeeded: firstNeeded,
            base: base ?? counter.current, generation: counter.current, ceiling: counter.ceiling,
            salt: .random(in: 0 ... .max), isNoted: isNoted)
    }

    /// The header as it is in the file.
    var encoded: [UInt8] {
        var bytes = JournalHeader.magic
        bytes.append(
            littleEndian: isNoted ? JournalHeader.notedFormat : JournalHeader.plainFormat)
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

    /// Reads a header; nil if the bytes are none, or damaged.
    init?(decoding bytes: [UInt8]) {
        let guarded = JournalHeader.size - MemoryLayout<UInt64>.size
        var reader = ByteReader(bytes)
        guard bytes.count == JournalHeader.size,
            reader.bytes(JournalHeader.magic.count) == JournalHeader.magic,
            let format = reader.integer(UInt32.self),
            [JournalHeader.plainFormat, JournalHeader.notedFormat].contains(format),
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
            base: base, generation: generation, ceiling: ceiling, salt: salt,
            isNoted: format == JournalHeader.notedFormat)
    }
}

/// One change in the journal, of one domain or several: a head that delimits it, and a payload.
///
///     offset  size
///          0     4  "chng"
///          4     4  size of the payload
///          8     8  XXH64 of the payload, seeded with the salt of the segment
///         16     8  XXH64 of the 16 bytes above, with the same seed
///         24        payload: generation, domain, host, assignments, removals, and if the
///                   change has them: a byte of flags (1: the domain is cleared, 2: the same of
///                   another domain follows, 4: a note follows), a token, a note
///
/// The head is guarded apart, so that a damaged payload does not hide where the next record
/// begins. The writer's bus name is not kept: it means nothing after a restart.
enum JournalRecord {
    static let headSize = 24
    static let magic = Array("chng".utf8)

    /// What the head tells about the payload.
    struct Head {
        let payloadSize: Int
        let payloadChecksum: UInt64
    }

    /// The record as it is in the file.
    ///
    /// - Parameter isNoted: Whether notes for the history are a part of it.
    static func encode(
        _ changes: [ChangeSet], salt: UInt64, isNoted: Bool = true
    ) -> [UInt8] {
        var record: [UInt8] = []
        record.reserveCapacity(
            changes.lazy.flatMap(\.set).reduce(1024) { $0 + $1.key.length + $1.archive.count + 8 })
        // The head is known when the payload is, which is built in place as it may be large.
        record.append(contentsOf: repeatElement(0, count: headSize))
        for (index, change) in changes.enumerated() {
            appendPayload(
                of: isNoted ? change : change.noted(nil), isLast: index == changes.count - 1,
                to: &record)
        }
        let head = encodeHead(
            of: record.span.bytes.extracting(droppingFirst: headSize), salt: salt)
        record.replaceSubrange(..<headSize, with: head)
        return record
    }

    private static func encodeHead(of payload: RawSpan, salt: UInt64) -> [UInt8] {
        var head = magic
        head.append(littleEndian: UInt32(payload.byteCount))
        head.append(littleEndian: XXH64.hash(payload, seed: salt))
        head.append(littleEndian: XXH64.hash(head, seed: salt))
        return head
    }

    /// Reads a head; nil if the bytes are none, or damaged.
    static func decodeHead(_ bytes: [UInt8], salt: UInt64) -> Head? {
        var reader = ByteReader(bytes)
        guard bytes.count == headSize,
            reader.bytes(magic.count) == magic,
            let size = reader.integer(UInt32.self).flatMap(Int.init(exactly:)),
            let checksum = reader.integer(UInt64.self),
            reader.integer(UInt64.self) == XXH64.hash(Array(bytes.prefix(16)), seed: salt)
        else { return nil }
        return Head(payloadSize: size, payloadChecksum: checksum)
    }

    /// Reads a payload whose checksum was found right; nil if it makes no sense all the same.
    static func decodePayload(_ bytes: [UInt8]) -> [ChangeSet]? {
        var reader = ByteReader(bytes)
        var changes: [ChangeSet] = []
        while true {
            guard let (change, isLast) = decodeChange(from: &reader) else { return nil }
            changes.append(change)
            if isLast { return reader.isAtEnd ? changes : nil }
        }
    }

    private static func decodeChange(
        from reader: inout ByteReader
    ) -> (ChangeSet, isLast: Bool)? {
        guard let generation = reader.integer(UInt64.self).flatMap(Generation.init(fromFile:)),
            let name = reader.text(lengthAs: UInt16.self),
            let host = reader.text(lengthAs: UInt16.self),
            let domain = Domain(name: name, hostColumn: host),
            let set = reader.list(of: { $0.assignment() }),
            let removed = reader.list(of: { $0.key() }),
            let trailer = reader.trailer()
        else { return nil }
        var proposal =
            trailer.flags & clearsDomainFlag != 0
            ? ChangeProposal(clearing: domain, origin: "")
            : ChangeProposal(
                domain: domain, set: set, removed: removed, token: trailer.token, origin: "")
        proposal.note = trailer.note
        return (
            ChangeSet(generation: generation, proposal: proposal),
            trailer.flags & isFollowedFlag == 0
        )
    }

    private static func appendPayload(
        of change: ChangeSet, isLast: Bool, to bytes: inout [UInt8]
    ) {
        bytes.append(littleEndian: change.generation.rawValue)
        bytes.append(text: change.domain.name, lengthAs: UInt16.self)
        bytes.append(text: change.domain.layer.hostColumn, lengthAs: UInt16.self)
        bytes.append(littleEndian: UInt32(change.set.count))
        for assignment in change.set {
            bytes.append(text: assignment.key.name, lengthAs: UInt16.self)
            bytes.append(counted: assignment.archive, lengthAs: UInt32.self)
        }
        bytes.append(littleEndian: UInt32(change.removed.count))
        for key in change.removed {
            bytes.append(text: key.name, lengthAs: UInt16.self)
        }
        let note = change.proposal.note
        guard change.clearsDomain || change.token != nil || !isLast || note != nil else { return }
        bytes.append(
            (change.clearsDomain ? clearsDomainFlag : 0) | (isLast ? 0 : isFollowedFlag)
                | (note == nil ? 0 : isNotedFlag))
        bytes.append(text: change.token?.name ?? "", lengthAs: UInt8.self)
        if let note { bytes.append(note) }
    }

    fileprivate static let clearsDomainFlag: UInt8 = 1
    fileprivate static let isFollowedFlag: UInt8 = 2
    fileprivate static let isNotedFlag: UInt8 = 4
    fileprivate static let allFlags = clearsDomainFlag | isFollowedFlag | isNotedFlag
}

extension ByteReader {
    fileprivate mutating func key() -> Key? {
        text(lengthAs: UInt16.self).flatMap { try? Key(stored: $0) }
    }

    fileprivate mutating func assignment() -> ChangeProposal.Assignment? {
        guard let key = key(), let archive = counted(lengthAs: UInt32.self) else { return nil }
        return ChangeProposal.Assignment(key: key, archive: archive)
    }

    /// What most records do not have.
    fileprivate mutating func trailer() -> (flags: UInt8, token: Token?, note: ChangeNote?)? {
        if isAtEnd { return (0, nil, nil) }
        guard let flags = integer(UInt8.self), flags <= JournalRecord.allFlags,
            let text = text(lengthAs: UInt8.self)
        else { return nil }
        let token = try? Token(text)
        guard flags & JournalRecord.isNotedFlag != 0 else { return (flags, token, nil) }
        guard let note = note() else { return nil }
        return (flags, token, note)
    }

    /// A count and as many elements.
    ///
    /// The count reserves nothing: it may claim what is not there.
    mutating func list<Element>(
        of element: (inout ByteReader) -> Element?
    ) -> [Element]? {
        guard let count = integer(UInt32.self) else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let next = element(&self) else { return nil }
            elements.append(next)
        }
        return elements
    }
}
