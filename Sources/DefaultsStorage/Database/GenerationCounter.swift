internal import DefaultsModel

/// The counter of the database, and how much of it is on disk.
///
/// Invariants:
/// 1. `durable` is never above `current`.
/// 2. `ceiling` is on disk, and no number above it is given: whoever finds the store without a
///    journal goes on from the ceiling, and so gives no number twice.
struct GenerationCounter: Equatable {
    /// The generation of the database: that of its last change.
    private(set) var current: Generation
    /// The last change that is on disk, with all before it.
    private(set) var durable: Generation
    /// The last number that may be given until a flush has raised it.
    private(set) var ceiling: Generation
    /// From where on the record of changes is whole.
    ///
    /// Where the numbers have jumped, those below the landing may have been given to changes that
    /// are lost, so that nothing can be told of what came after one of them.
    let recordStart: Generation

    init(
        current: Generation, durable: Generation, ceiling: Generation, recordStart: Generation
    ) {
        precondition(durable <= current, "what is durable has happened")
        self.current = current
        self.durable = durable
        self.ceiling = ceiling
        self.recordStart = recordStart
    }

    /// The counter that a start goes on with.
    ///
    /// - Parameter journal: What the journal says; nil for a new database.
    init(after store: StoreState, _ journal: (generation: Generation, hasJumped: Bool)?) {
        let current = journal?.generation ?? store.generation
        self.init(
            current: current, durable: store.generation, ceiling: store.ceiling,
            recordStart: journal?.hasJumped == true ? current : store.recordStart)
    }

    /// Whether no number may be given until a flush has raised the ceiling.
    var isExhausted: Bool { current >= ceiling }

    /// The number for the next change, which it has once it is acknowledged.
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

    /// Whether everything is known that came after a generation.
    func reaches(backTo generation: Generation) -> Bool {
        recordStart <= generation && generation <= current
    }

    /// Notes that a batch is on disk.
    mutating func noteDurable(_ batch: FlushBatch) {
        durable = batch.generation
        ceiling = batch.ceiling
    }
}
