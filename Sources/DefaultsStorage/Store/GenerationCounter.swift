internal import DefaultsModel
internal import Glibc

/// The counter of the database, and how much of it is on disk.
///
/// Invariants:
/// 1. `durable` is never above `current`.
/// 2. `ceiling` is on disk, and no number above it is given. A process that finds the store without
///    a journal continues from the ceiling, so no number is given twice.
struct GenerationCounter: Equatable {
    /// The generation of the database: that of its last change.
    private(set) var current: Generation
    /// The last change that is on disk, with all before it.
    private(set) var durable: Generation
    /// The last number that may be given until a flush has raised it.
    private(set) var ceiling: Generation
    /// After which generations all changes are known.
    let record: ChangeRecord

    init(
        current: Generation, durable: Generation, ceiling: Generation, record: ChangeRecord
    ) {
        precondition(durable <= current, "what is durable has happened")
        self.current = current
        self.durable = durable
        self.ceiling = ceiling
        self.record = record
    }

    /// The counter that a start continues with.
    ///
    /// - Parameter journal: What the journal says; nil for a new database.
    init(after store: StoreState, _ journal: (generation: Generation, hasJumped: Bool)?) {
        let current = journal?.generation ?? store.generation
        self.init(
            current: current, durable: store.generation, ceiling: store.ceiling,
            record: journal?.hasJumped == true
                ? store.record.jumping(from: store.generation, to: current) : store.record)
    }

    /// Whether no number may be given until a flush has raised the ceiling.
    var isExhausted: Bool { current >= ceiling }

    /// The number for the next change.
    ///
    /// It is used when the change is acknowledged.
    ///
    /// - Throws: `.generationsExhausted` at the ceiling.
    func next() throws(StorageError) -> Generation {
        guard !isExhausted else { throw .generationsExhausted(ceiling) }
        return current.advanced(by: 1)
    }

    /// Notes that a change was acknowledged.
    mutating func noteAcknowledged(_ change: ChangeSet) {
        current = change.generation
    }

    /// Whether all changes after a generation are known.
    func reaches(backTo generation: Generation) -> Bool {
        record.reaches(backTo: generation, now: current)
    }

    /// Notes that a batch is on disk.
    mutating func noteDurable(_ batch: FlushBatch) {
        durable = batch.generation
        ceiling = batch.ceiling
    }
}

extension Generation {
    /// How far the durable ceiling is above the durable generation: 2^20.
    static let ceilingDistance: UInt64 = 1 << 20

    /// The largest generation that a file may claim.
    ///
    /// Counting from there does not overflow, and no database reaches it: at a million changes a
    /// second it takes 70 000 years.
    static let largestInFile = Generation.first.advanced(by: (1 << 61) - 1)

    /// The number up to which generations may be given once this one is on disk.
    ///
    /// A crafted file may claim the largest one. Then no more are given, because no file could
    /// store them.
    var ceiling: Generation {
        min(advanced(by: Generation.ceilingDistance), .largestInFile)
    }

    /// The number to continue from after a ceiling: above it and above all numbers ever given.
    static func landing(above ceiling: Generation) -> Generation {
        min(max(ceiling.advanced(by: 1), .now), .largestInFile)
    }

    /// The time in microseconds since 1970, as a number above all numbers ever given.
    ///
    /// A clock that is far off counts as one that does not run.
    static var now: Generation {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, nanoseconds) = (UInt64(clamping: time.tv_sec), UInt64(time.tv_nsec))
        let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, microseconds < 1 << 60 else { return .first }
        return Generation(rawValue: microseconds + nanoseconds / 1000) ?? .first
    }

    /// Takes a number that a file claims to be a generation; nil if that is impossible.
    init?(fromFile rawValue: UInt64) {
        guard rawValue <= Generation.largestInFile.rawValue else { return nil }
        self.init(rawValue: rawValue)
    }

    /// Takes a column of the store; nil if it cannot be a generation.
    init?(column: Int64) {
        guard let rawValue = UInt64(exactly: column) else { return nil }
        self.init(fromFile: rawValue)
    }

    /// The form in which the store keeps it; none is above 2^62.
    var column: Int64 { Int64(rawValue) }
}
