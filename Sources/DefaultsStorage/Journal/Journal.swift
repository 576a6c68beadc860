internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The crash journal: every acknowledged change that may not be in the store yet.
///
/// It is a series of segments, which are files of records. Records are appended to the last
/// segment. A flush begins a new segment; when it has succeeded, the earlier ones are removed.
///
/// Invariants:
/// 1. A change is here, complete, before it is acknowledged and until it is in the store.
/// 2. A refused change leaves nothing that a replay would read.
/// 3. Changes are in the order of their generations, within and across segments. The tokens of a
///    domain are in the order in which they were remembered, with their changes or, after a
///    rewrite, alone after them.
/// 4. There is always a segment. Its header has the state of the counter, so a start can check
///    whether the store is the one that the previous process left.
/// 5. Its size and the number of its files depend on what is pending, not on the number of changes
///    or of failed flushes.
/// 6. No cost of a change grows with the number of segments.
final class Journal {
    /// How much larger than the pending changes the journal may be before it is rewritten: 8 MiB.
    static let slack = 8 << 20
    /// How many segments there may be before they are rewritten as one: each failed flush leaves
    /// one.
    static let maximumSealed = 16

    private var place: JournalDirectory
    let database: UniqueID
    private let boot: UniqueID
    /// Whether changes are written with their notes: the store must have a schema that keeps earlier
    /// versions from reading this.
    var isNoted: Bool
    private var current: JournalSegment
    /// Segments that are needed and no longer written to, the oldest first.
    private var sealed: [SealedSegment]
    /// The size of the sealed segments in bytes.
    private var sealedFootprint: Int
    /// The footprint above which a failed rewrite is tried again.
    private var retryFootprint = 0

    /// Begins a segment after those that a start has found, in this directory or another.
    ///
    /// If some are in another directory, `takeOver(_:at:)` must follow: what the segments say about
    /// each other is for one directory only.
    init(
        in place: JournalDirectory, database: UniqueID, boot: UniqueID, isNoted: Bool = true,
        after sealed: [SealedSegment], at counter: GenerationCounter
    ) throws(SystemError) {
        self.isNoted = isNoted
        self.place = place
        self.database = database
        self.boot = boot
        self.sealed = sealed
        sealedFootprint = sealed.reduce(0) { $0 + $1.footprint }
        let sequence = (sealed.map(\.header.sequence).max() ?? 0) + 1
        let header = JournalHeader(
            database: database, boot: boot, sequence: sequence,
            firstNeeded: sealed.map(\.header.sequence).min() ?? sequence, at: counter,
            isNoted: isNoted)
        current = try JournalSegment.make(header, in: place.directory)
    }

    var directory: PrivateDirectory { place.directory }

    /// All directories with segments.
    var directories: [String] { [directory.path] + sealed.map(\.directory) }

    /// The size of all segments in bytes.
    var footprint: Int { sealedFootprint + current.size }

    /// Appends a change of one domain or several.
    ///
    /// - Throws: The reason why it was not appended.
    func append(_ changes: [ChangeSet]) throws(SystemError) {
        try current.append(changes)
    }

    /// Begins a new segment, so that the earlier ones have only what is pending now.
    func rotate(at counter: GenerationCounter) throws(SystemError) {
        if !current.isEmpty { try beginSegment(at: counter) }
    }

    /// The highest number of the segments that are no longer written to.
    var lastSealed: UInt64? { sealed.map(\.header.sequence).max() }

    /// Removes segments whose changes are all in the store.
    ///
    /// - Throws: If one cannot be removed; what is left is removed the next time.
    func remove(through sequence: UInt64) throws(SystemError) {
        while let index = sealed.firstIndex(where: { $0.header.sequence <= sequence }) {
            try sealed[index].remove()
            sealedFootprint -= sealed.remove(at: index).footprint
        }
    }

    /// Removes all segments except the one that is written to.
    func removeSealed() throws(SystemError) {
        if let lastSealed { try remove(through: lastSealed) }
    }

    /// Empties the segment that is written to, because the store has all its records.
    func clear() throws(SystemError) {
        if !current.isEmpty { try current.clear() }
    }

    /// Rewrites the journal with only the pending changes, if it is much larger than these.
    ///
    /// That happens if a disk fails for a long time, or one large value changes often during a
    /// flush.
    ///
    /// If that fails, it is tried again when the journal is twice as large.
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

    /// Continues with all pending changes in another directory, or in this one after it was made
    /// again.
    ///
    /// The segments in a lost directory are forgotten. If they appear again, the new segment has
    /// all their changes. Those in a directory that is in its place are removed, as far as possible.
    func move(
        to place: JournalDirectory, with pending: PendingOverlay, at counter: GenerationCounter
    ) throws(SystemError) {
        let isLost = isLost
        try takeOver(pending, in: place.directory, at: counter)
        self.place = place
        if !isLost { try? removeSealed() }
        sealed = []
        sealedFootprint = 0
    }

    /// Leaves the directory to the next process.
    ///
    /// Nothing is written afterwards.
    func close() {
        place.release()
    }

    /// Writes all pending changes into a new segment, so that the earlier ones are not needed.
    func takeOver(_ pending: PendingOverlay, at counter: GenerationCounter) throws(SystemError) {
        try takeOver(pending, in: directory, at: counter)
    }

    private func takeOver(
        _ pending: PendingOverlay, in directory: PrivateDirectory, at counter: GenerationCounter
    ) throws(SystemError) {
        let sequence = current.header.sequence + 1
        let header = JournalHeader(
            database: database, boot: boot, sequence: sequence, firstNeeded: sequence,
            base: counter.durable, at: counter, isNoted: isNoted)
        seal(
            andGoOnWith: try JournalSegment.make(
                header, in: directory, changes: pending.changeSets))
    }

    private func beginSegment(at counter: GenerationCounter) throws(SystemError) {
        let header = JournalHeader(
            database: database, boot: boot, sequence: current.header.sequence + 1,
            firstNeeded: sealed.map(\.header.sequence).min() ?? current.header.sequence,
            at: counter, isNoted: isNoted)
        seal(andGoOnWith: try JournalSegment.make(header, in: directory))
    }

    private func seal(andGoOnWith next: consuming JournalSegment) {
        let segment = SealedSegment(current, in: directory)
        sealed.append(segment)
        sealedFootprint += segment.footprint
        current = next
    }
}

/// The segment of the journal that is written to: a header, and then the records.
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

    /// Makes a segment with these changes only.
    ///
    /// It gets its name only when it is complete, so every segment that is found has a header.
    static func make(
        _ header: JournalHeader, in directory: PrivateDirectory, changes: [ChangeSet] = []
    ) throws(SystemError) -> JournalSegment {
        let unfinished = name(header.sequence) + unfinishedSuffix
        do throws(SystemError) {
            return try make(header, as: unfinished, in: directory, changes)
        } catch {
            // Half a segment would take up space, and missing space may be the reason of the
            // failure.
            try? directory.remove(unfinished)
            throw error
        }
    }

    private static func make(
        _ header: JournalHeader, as unfinished: String, in directory: PrivateDirectory,
        _ changes: [ChangeSet]
    ) throws(SystemError) -> JournalSegment {
        // If the name is taken, the segment would be written to another file, or never get its
        // name.
        for name in [unfinished, name(header.sequence)] {
            _ = try directory.setStrangeAside(name)
        }
        let file = try File.regular(
            directory.file(unfinished), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
        try file.setMode(0o600)
        try file.write(header.encoded, at: 0)
        var segment = try JournalSegment(header, in: file)
        for change in changes { try segment.append([change]) }
        // The older segments, which the caller then removes, have these changes, too. On a disk,
        // the content must be written before the name, and the name before the removal. In the
        // runtime directory this costs nothing.
        if !changes.isEmpty { try segment.file.synchronize() }
        try directory.rename(unfinished, to: name(header.sequence))
        if !changes.isEmpty { try directory.synchronize() }
        return segment
    }

    /// Whether it has no records.
    var isEmpty: Bool { size == JournalHeader.size }

    /// Whether it still has its name in the directory.
    func isInPlace(in directory: PrivateDirectory) -> Bool {
        FileIdentity(of: directory.file(JournalSegment.name(header.sequence))) == identity
    }

    /// Appends a change with one write, completely or not at all.
    mutating func append(_ changes: [ChangeSet]) throws(SystemError) {
        let record = JournalRecord.encode(
            changes, salt: header.salt, isNoted: header.isNoted)
        do throws(SystemError) {
            try file.write(record, at: size)
        } catch {
            // If the incomplete record cannot be cut off, the next one is written over it. A replay
            // takes the rest for an incomplete record at the end.
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

    /// How the name of a segment ends until the segment is complete.
    static let unfinishedSuffix = ".unfinished"
    /// How the name of a segment ends.
    static let suffix = ".journal"
    /// How the name ends after a start has postponed the segment.
    static let putOffSuffix = ".late"
    /// How the name of a segment ends that is of another database, or cannot be read.
    static let asideSuffix = ".aside"

    /// Whether a file may be a complete segment.
    ///
    /// - Parameter setAside: Whether it is to be one that was set aside; nil if that does not matter.
    static func isName(_ name: String, setAside: Bool? = nil) -> Bool {
        let isAside = name.dropFirst(16).hasPrefix("\(suffix).") && name.hasSuffix(asideSuffix)
        if let setAside, setAside != isAside { return false }
        return isAside || name.hasSuffix(suffix) || name.hasSuffix(putOffSuffix)
    }

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

    /// Whether it is not a part of the journal that follows: a start has postponed it, or a process with
    /// another database has set it aside.
    var isPutOff: Bool {
        name.hasSuffix(JournalSegment.putOffSuffix) || name.hasSuffix(JournalSegment.asideSuffix)
    }

    /// The space that it takes up in bytes: at least one page.
    var footprint: Int { max(size, 4096) }

    /// Unlinks it.
    ///
    /// It is not a failure if the file is already gone.
    func remove() throws(SystemError) {
        guard FileCalls.unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
    }

    /// Leaves it, with all its records, to a later start.
    ///
    /// Its new name lets a later start find it. By this name it is not taken for a part of the
    /// journal that follows, so it is neither removed as unneeded nor used as proof of the numbers
    /// given.
    func putOff() throws(SystemError) {
        guard !isPutOff else { return }
        _ = try PrivateDirectory(existing: directory).setAside(
            name, as: JournalSegment.putOffSuffix)
    }
}

extension SealedSegment {
    /// The segment that a journal has appended to until now.
    init(_ segment: borrowing JournalSegment, in directory: PrivateDirectory) {
        self.init(
            header: segment.header, directory: directory.path,
            name: JournalSegment.name(segment.header.sequence),
            size: segment.size)
    }
}
