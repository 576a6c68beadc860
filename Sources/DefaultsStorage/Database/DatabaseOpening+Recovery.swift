internal import DefaultsModel

/// What was acknowledged, and from where the numbers go on.
extension DatabaseOpening {
    /// Takes up what the last process left in the journal.
    ///
    /// - Parameters:
    ///   - directories: Where journals may stand.
    ///   - place: Where the last one stood.
    func recover(
        from directories: [PrivateDirectory], last place: JournalPlace?, boot: UniqueID
    ) throws(StorageError) -> Recovery {
        let state = store.state
        var contents = DatabaseContents(over: store.reader)
        var history = try JournalHistory(
            of: state.uuid, boot: boot, in: directories, report: report)
        let older = try replay(&history, above: state.generation, into: &contents)
        let outcome = store.isNew ? nil : history.generation(after: state, last: place)
        var recovery = Recovery(
            store: state, contents: contents, counter: GenerationCounter(after: state, outcome),
            segments: history.segments, hasJumped: outcome?.hasJumped == true)
        if recovery.counter.isExhausted { raiseCeiling(of: &recovery) }
        try takeUpOrPutOff(older, in: &recovery)
        return recovery
    }

    /// Writes all that is pending, and with it a higher ceiling.
    ///
    /// Where that fails the database opens all the same: it can be read, and changes are refused
    /// until a flush succeeds.
    private func raiseCeiling(of recovery: inout Recovery) {
        recovery.isRaised = true
        let batch = FlushBatch(
            generation: recovery.counter.current, changes: recovery.contents.overlay.beginFlush(),
            recordStart: recovery.counter.recordStart, lastSegment: nil, host: nil)
        do {
            try FlushTransaction(on: store.connection).write(batch)
            recovery.contents.overlay.finishFlush()
            recovery.counter.noteDurable(batch)
        } catch {
            recovery.contents.overlay.abandonFlush()
            report(.ceilingNotRaised(.storeFailure(file.path, error, .cannotWrite)))
        }
    }

    /// Makes late changes happen now, or leaves all that was found to a later start where there
    /// are no numbers for them.
    ///
    /// That is so where the counter has jumped to its ceiling and the disk does not take a higher
    /// one. The database can be read meanwhile, and once a flush has succeeded it can be changed.
    /// Nothing of what was found is lost by that: what is pending is written to the journal anew,
    /// and the later start finds out again what the store has as new.
    private func takeUpOrPutOff(
        _ older: PendingOverlay, in recovery: inout Recovery
    ) throws(StorageError) {
        var tried = recovery
        do throws(StorageError) {
            tried.isLate = try takeUp(older, into: &tried.contents, at: &tried.counter)
            recovery = tried
        } catch {
            guard error.code == .generationsExhausted else { throw error }
            try putOff(recovery.segments)
            recovery.segments = []
            recovery.isLate = true
            report(.putOff(error))
        }
    }

    private func putOff(_ segments: [SealedSegment]) throws(StorageError) {
        for segment in segments {
            do {
                try segment.putOff()
            } catch {
                throw .cannotOpen(segment.path, error)
            }
        }
    }
}
