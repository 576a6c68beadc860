internal import DefaultsModel

/// One change in the journal: a head that delimits it, and a payload.
///
///     offset  size
///          0     4  "chng"
///          4     4  size of the payload
///          8     8  XXH64 of the payload, seeded with the salt of the segment
///         16     8  XXH64 of the 16 bytes above, with the same seed
///         24        payload: generation, domain, host, assignments, removals, and where the
///                   change has them: a byte of flags (1: the domain is cleared), a token
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

    /// The record as it stands in the file.
    static func encode(_ change: ChangeSet, salt: UInt64) -> [UInt8] {
        var record: [UInt8] = []
        record.reserveCapacity(
            change.set.reduce(1024) { $0 + $1.key.length + $1.archive.count + 8 })
        // The head is known when the payload is, which is built in place as it may be large.
        record.append(contentsOf: repeatElement(0, count: headSize))
        appendPayload(of: change, to: &record)
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

    /// Reads a head; nil where the bytes are none, or damaged.
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

    /// Reads a payload whose checksum was found right; nil where it makes no sense all the same.
    static func decodePayload(_ bytes: [UInt8]) -> ChangeSet? {
        var reader = ByteReader(bytes)
        guard let generation = reader.integer(UInt64.self).flatMap(Generation.init(fromFile:)),
            let name = reader.text(lengthAs: UInt16.self),
            let host = reader.text(lengthAs: UInt16.self),
            let domain = Domain(name: name, hostColumn: host),
            let set = reader.list(of: { $0.assignment() }),
            let removed = reader.list(of: { $0.key() }),
            let trailer = reader.trailer(),
            reader.isAtEnd
        else { return nil }
        return ChangeSet(
            generation: generation,
            proposal: trailer.clearsDomain
                ? ChangeProposal(clearing: domain, origin: "")
                : ChangeProposal(
                    domain: domain, set: set, removed: removed, token: trailer.token, origin: ""))
    }

    private static func appendPayload(of change: ChangeSet, to bytes: inout [UInt8]) {
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
        guard change.clearsDomain || change.token != nil else { return }
        bytes.append(change.clearsDomain ? clearsDomainFlag : 0)
        bytes.append(text: change.token?.name ?? "", lengthAs: UInt8.self)
    }

    fileprivate static let clearsDomainFlag: UInt8 = 1
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
    fileprivate mutating func trailer() -> (clearsDomain: Bool, token: Token?)? {
        if isAtEnd { return (false, nil) }
        guard let flags = integer(UInt8.self), flags <= JournalRecord.clearsDomainFlag,
            let text = text(lengthAs: UInt8.self)
        else { return nil }
        return (flags == JournalRecord.clearsDomainFlag, try? Token(text))
    }

    /// A count and as many elements.
    ///
    /// The count reserves nothing: it may claim what is not there.
    fileprivate mutating func list<Element>(
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
