internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The crash journal: every acknowledged change that may not be in the store yet.
///
/// It is a row of segments, files of records, of which the last is written to. A flush begins a
/// new segment; when it has succeeded, those before are removed.
///
/// Invariants:
/// 1. A change stands here whole before it is acknowledged, and until it is in the store.
/// 2. A change that was refused leaves nothing behind that a replay would take.
/// 3. Changes stand in the order of their generations, within and across segments; the tokens of a
///    domain in the order in which they were remembered, with their changes or, once rewritten,
///    alone and behind them.
/// 4. There is always a segment. Its header tells how far the counter had come, so that a start
///    finds out whether the store is the one that the last process left.
/// 5. Its size and the number of its files are bounded by what is pending, not by the number of
///    changes or of flushes that failed.
/// 6. No cost of a change grows with the number of segments.
final class Journal {
    /// By how much the journal may outgrow what is pending before it is rewritten: 8 MiB.
    static let slack = 8 << 20
    /// How many segments may gather before they are rewritten as one: each flush that fails
    /// leaves one behind.
    static let maximumSealed = 16

    private(set) var directory: PrivateDirectory
    let database: UniqueID
    private let boot: UniqueID
    private var current: JournalSegment
    /// Segments that are needed and no longer written to, the oldest first.
    private var sealed: [SealedSegment]
    /// What the sealed segments take up, in bytes.
    private var sealedFootprint: Int
    /// Where a rewrite failed: the footprint above which it is tried again.
    private var retryFootprint = 0

    /// Begins a segment after those that a start has found, in this directory or another.
    ///
    /// Where some stand in another one, `takeOver(_:at:)` is next: the segments' own account of
    /// which are needed knows one directory only.
    init(
        in directory: PrivateDirectory, database: UniqueID, boot: UniqueID,
        after sealed: [SealedSegment], at counter: GenerationCounter
    ) throws(SystemError) {
        self.directory = directory
        self.database = database
        self.boot = boot
        self.sealed = sealed
        sealedFootprint = sealed.reduce(0) { $0 + $1.footprint }
        let sequence = (sealed.map(\.header.sequence).max() ?? 0) + 1
        let header = JournalHeader(
            database: database, boot: boot, sequence: sequence,
            firstNeeded: sealed.map(\.header.sequence).min() ?? sequence, at: counter)
        current = try JournalSegment.make(header, in: directory)
    }

    /// What all segments take up, in bytes.
    var footprint: Int { sealedFootprint + current.size }

    /// Appends a change.
    ///
    /// - Throws: The reason why it does not stand here.
    func append(_ change: ChangeSet) throws(SystemError) {
        try current.append(change)
    }

    /// Begins a new segment, so that those before hold nothing but what is now pending.
    func rotate(at counter: GenerationCounter) throws(SystemError) {
        if !current.isEmpty { try beginSegment(at: counter) }
    }

    /// The highest number of the segments that are no longer written to.
    var lastSealed: UInt64? { sealed.map(\.header.sequence).max() }

    /// Removes segments whose changes are all in the store.
    ///
    /// - Throws: Where one cannot be removed; what is left is removed the next time.
    func remove(through sequence: UInt64) throws(SystemError) {
        while let index = sealed.firstIndex(where: { $0.header.sequence <= sequence }) {
            try sealed[index].remove()
            sealedFootprint -= sealed.remove(at: index).footprint
        }
    }

    /// Removes all segments but the one that is written to.
    func removeSealed() throws(SystemError) {
        if let lastSealed { try remove(through: lastSealed) }
    }

    /// Empties the segment that is written to; all that stands in it is in the store.
    func clear() throws(SystemError) {
        if !current.isEmpty { try current.clear() }
    }

    /// Writes the journal anew, with nothing in it but what is pending, if it has far outgrown
    /// that: because a disk fails for long, or one large value changes often during a flush.
    ///
    /// Where that fails it is tried again when the journal takes up twice as much.
    func rewriteIfOutgrown(
        by pending: PendingOverlay, at counter: GenerationCounter
    ) throws(SystemError) {
        let footprint = footprint
        let isOutgrown =
            footprint > 2 * pending.bytes + Journal.slack || sealed.count > Journal.maximumSealed
        guard isOutgrown, footprint > retryFootprint else { return }
        retryFootprint = 2 * footprint
        try takeOver(pending, at: counter)
        try removeSealed()
        retryFootprint = 0
    }

    /// Whether the next process would not find what is written here: somebody has removed the
    /// directory, or the file system that it was on.
    var isLost: Bool { !current.isInPlace(in: directory) }

    /// Goes on in another directory, or in this one made anew, with all that is pending.
    ///
    /// The segments in the lost one are forgotten. Those that turn up again hold nothing that the
    /// new one does not hold as well.
    func move(
        to directory: PrivateDirectory, with pending: PendingOverlay, at counter: GenerationCounter
    ) throws(SystemError) {
        try takeOver(pending, in: directory, at: counter)
        self.directory = directory
        sealed = []
        sealedFootprint = 0
    }

    /// Writes all that is pending into a new segment, so that those before it are not needed.
    func takeOver(_ pending: PendingOverlay, at counter: GenerationCounter) throws(SystemError) {
        try takeOver(pending, in: directory, at: counter)
    }

    private func takeOver(
        _ pending: PendingOverlay, in directory: PrivateDirectory, at counter: GenerationCounter
    ) throws(SystemError) {
        let sequence = current.header.sequence + 1
        let header = JournalHeader(
            database: database, boot: boot, sequence: sequence, firstNeeded: sequence,
            base: counter.durable, at: counter)
        seal(
            andGoOnWith: try JournalSegment.make(
                header, in: directory, changes: pending.changeSets))
    }

    private func beginSegment(at counter: GenerationCounter) throws(SystemError) {
        let header = JournalHeader(
            database: database, boot: boot, sequence: current.header.sequence + 1,
            firstNeeded: sealed.map(\.header.sequence).min() ?? current.header.sequence,
            at: counter)
        seal(andGoOnWith: try JournalSegment.make(header, in: directory))
    }

    private func seal(andGoOnWith next: consuming JournalSegment) {
        let segment = SealedSegment(current, in: directory)
        sealed.append(segment)
        sealedFootprint += segment.footprint
        current = next
    }
}

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
