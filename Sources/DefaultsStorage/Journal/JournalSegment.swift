internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The segment of the journal that is written to: a header and one record after the other.
struct JournalSegment: ~Copyable {
    let header: JournalHeader
    private let file: File
    /// Which file it is, whatever its name.
    private let identity: FileIdentity
    /// Where the last whole record ends.
    private(set) var size: Int

    private init(_ header: JournalHeader, in file: consuming File) throws(SystemError) {
        self.header = header
        identity = try file.status().identity
        self.file = file
        size = JournalHeader.size
    }

    /// Makes a segment with the changes given, and nothing else in it.
    ///
    /// It gets its name only when it is whole, so that a segment found later always has a header.
    static func make(
        _ header: JournalHeader, in directory: PrivateDirectory, changes: [ChangeSet] = []
    ) throws(SystemError) -> JournalSegment {
        let unfinished = name(header.sequence) + unfinishedSuffix
        do throws(SystemError) {
            return try make(header, as: unfinished, in: directory, changes)
        } catch {
            // Half a segment would take up space that may be the very thing that is missing.
            try? directory.remove(unfinished)
            throw error
        }
    }

    private static func make(
        _ header: JournalHeader, as unfinished: String, in directory: PrivateDirectory,
        _ changes: [ChangeSet]
    ) throws(SystemError) -> JournalSegment {
        // A name that is taken would have the segment written elsewhere, or never get its own.
        for name in [unfinished, name(header.sequence)] {
            _ = try directory.setStrangeAside(name)
        }
        let file = try File.regular(
            directory.file(unfinished), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
        try file.setMode(0o600)
        try file.write(header.encoded, at: 0)
        var segment = try JournalSegment(header, in: file)
        for change in changes { try segment.append(change) }
        // Changes given here stand in older segments too, which the caller then removes. On a
        // medium that outlives a power cut the name must not come before the content, nor the
        // removal before the name. In the runtime directory this costs nothing.
        if !changes.isEmpty { try segment.file.synchronize() }
        try directory.rename(unfinished, to: name(header.sequence))
        if !changes.isEmpty { try directory.synchronize() }
        return segment
    }

    /// Whether it holds no record.
    var isEmpty: Bool { size == JournalHeader.size }

    /// Whether it still has its name in the directory.
    func isInPlace(in directory: PrivateDirectory) -> Bool {
        FileIdentity(of: directory.file(JournalSegment.name(header.sequence))) == identity
    }

    /// Appends a change with one write, whole or not at all.
    mutating func append(_ change: ChangeSet) throws(SystemError) {
        let record = JournalRecord.encode(change, salt: header.salt)
        do throws(SystemError) {
            try file.write(record, at: size)
        } catch {
            // Where the torn record cannot even be cut off, the next one is written over it, and
            // a replay takes what is then left of it for a torn tail.
            try? file.truncate(to: size)
            throw error
        }
        size += record.count
    }

    /// Cuts all records off.
    mutating func clear() throws(SystemError) {
        try file.truncate(to: JournalHeader.size)
        size = JournalHeader.size
    }

    /// What a segment's name ends with until it is whole.
    static let unfinishedSuffix = ".unfinished"
    /// What a segment's name ends with.
    static let suffix = ".journal"
    /// What its name ends with once a start has put it off.
    static let putOffSuffix = ".late"
    /// What its name ends with where it is not ours to read.
    static let asideSuffix = ".aside"

    /// The file name of a segment: its number in 16 hexadecimal digits.
    static func name(_ sequence: UInt64) -> String {
        let digits = String(sequence, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + suffix
    }
}

/// A segment of the journal that is no longer written to.
struct SealedSegment {
    let header: JournalHeader
    let directory: String
    let name: String
    /// The size in bytes.
    let size: Int

    var path: String { "\(directory)/\(name)" }

    /// Whether a start has put it off.
    var isPutOff: Bool { name.hasSuffix(JournalSegment.putOffSuffix) }

    /// What it takes up in bytes: a page at least, however little is in it.
    var footprint: Int { max(size, 4096) }

    /// Unlinks it.
    ///
    /// One that is gone already is no failure.
    func remove() throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
    }

    /// Leaves it to a later start, with all that stands in it.
    ///
    /// It gets a name by which a start finds it, and by which nobody takes it for a part of the
    /// journal that follows: neither for one that is not needed, nor for proof of what was given.
    func putOff() throws(SystemError) {
        guard !isPutOff else { return }
        _ = try PrivateDirectory(existing: directory).setAside(
            name, as: JournalSegment.putOffSuffix)
    }
}

extension SealedSegment {
    /// The segment that a journal has written to until now.
    init(_ segment: borrowing JournalSegment, in directory: PrivateDirectory) {
        self.init(
            header: segment.header, directory: directory.path,
            name: JournalSegment.name(segment.header.sequence),
            size: segment.size)
    }
}
