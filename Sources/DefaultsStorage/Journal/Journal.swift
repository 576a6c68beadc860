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
