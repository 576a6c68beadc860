internal import DefaultsModel

extension Database {
    /// Makes the writer that this database's batches are for.
    ///
    /// - Throws: `.cannotOpen` where the file, or a thread, is not to be had.
    public func makeWriter() throws(StorageError) -> DurableWriter {
        try DurableWriter(to: identity, in: place)
    }

    /// Whether there is something for a flush to write: changes, tokens, a ceiling to raise, or files
    /// that somebody has removed.
    public var needsFlush: Bool {
        !contents.overlay.isEmpty || counter.isExhausted || identity.isLost(from: file)
            || place.isLost
    }

    /// The flush that writes the last of what is acknowledged by now; nil where all is on disk.
    ///
    /// It is the one under way, or the next, as `flushesBegun` counts. Whoever waits for the disk
    /// waits for its end. No generation would tell as much: a token has that of an earlier change.
    public var flushOfPending: UInt64? {
        guard needsFlush else { return nil }
        return contents.overlay.isTakenUp ? flushesBegun : flushesBegun + 1
    }

    /// Begins a flush of all that is pending.
    ///
    /// One flush at a time.
    ///
    /// - Returns: What to write; nil where there is nothing. Whoever takes it tells
    ///   `finishFlush(_:_:)` what came of it.
    public func beginFlush() -> FlushBatch? {
        guard needsFlush else { return nil }
        flushesBegun += 1
        tidyJournal(.beginning) {
            try renewWhatIsLost()
            try journal.rotate(at: counter)
        }
        let changes = contents.overlay.beginFlush()
        return FlushBatch(
            generation: counter.current, changes: changes, recordStart: counter.recordStart,
            lastSegment: journal.lastSealed, host: hostToNote(with: changes))
    }

    /// Ends a flush: what was written leaves memory and journal, or stays pending as before.
    public func finishFlush(_ batch: FlushBatch, _ outcome: Result<Void, StorageError>) {
        guard case .success = outcome else { return contents.overlay.abandonFlush() }
        if followStore(to: batch) {
            contents.overlay.finishFlush()
        } else {
            contents.overlay.abandonFlush()
        }
        counter.noteDurable(batch)
        if let host = batch.host { notedName = host.name }
        place.noteWritten(journal.database, at: counter.durable)
        if let last = batch.lastSegment {
            tidyJournal(.removing) { try journal.remove(through: last) }
        }
        // What the flush has written is in there still where no new segment could be begun.
        if contents.overlay.isEmpty { tidyJournal(.emptying) { try journal.clear() } }
    }

    /// Does work on the journal that can be put off: where it fails, the journal holds more than
    /// it need, and a later attempt makes up for it.
    ///
    /// The log is told once, whatever work fails, until all that failed has succeeded.
    func tidyJournal(_ work: JournalWork, _ attempt: () throws -> Void) {
        do {
            try attempt()
            untidied.remove(work)
        } catch {
            if untidied.isEmpty { report(.journalNotTidied(error)) }
            untidied.insert(work)
        }
    }
}

/// Work on the journal that can be put off.
enum JournalWork: Hashable {
    /// Beginning a segment.
    case beginning
    /// Removing segments, or all that stands in one.
    case removing, emptying
    /// Writing the journal anew.
    case rewriting
}
