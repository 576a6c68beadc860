internal import Glibc
internal import SQLite

/// What is to be done in quiet moments after a flush.
struct Chores {
    /// How many empty domains must be written before surplus ones are looked for.
    private static let fewEmptyDomains = 256
    /// How many tokens must be written before surplus ones are looked for.
    private static let fewTokens = 1024

    /// How many empty domains, and domains with only tokens, flushes have written since the last look.
    ///
    /// It starts high enough for the first flush of a process to cause a look.
    private var emptyDomains = fewEmptyDomains
    /// How many tokens flushes have written since the last look.
    private var tokens = 0
    /// Whether a domain that was dropped may have entries; a process does not know what the one
    /// before it left.
    private var hasDropped = true
    /// Whether dropped domains, surplus tokens and empty domains are to be looked for.
    var isForgettingDue: Bool {
        hasDropped || emptyDomains >= Chores.fewEmptyDomains || tokens >= Chores.fewTokens
    }
    /// Whether no more free pages can be returned before the next flush.
    var isStuck = false
    /// Whether the last step has failed.
    var hasFailed = false
    /// Whether a step has failed since the last flush, so that the next ones are to write little.
    var isTight = false
    /// Whether the log is to be folded back when the rest is done.
    var isFoldingDue = false
    /// Whether the reserve was given away for a step.
    var hasReleasedReserve = false
    /// Whether it is worth trying to make the reserve.
    var isReserveOfUse = true

    mutating func note(_ batch: FlushBatch) {
        emptyDomains += batch.emptyDomains
        tokens += batch.tokenCount
        if batch.clearsDomain { hasDropped = true }
        // The log has the page that the value was on, as it was before.
        if batch.removes { isFoldingDue = true }
        (isStuck, hasFailed, isTight) = (false, false, false)
    }

    mutating func noteForgotten(hasDropped: Bool) {
        (emptyDomains, tokens, self.hasDropped) = (0, 0, hasDropped)
    }
}

/// The work that keeps the store small, step by step between flushes.
///
/// Free pages are returned first. A repair would find removed values in them, so they must be gone before
/// the row of their domain is.
extension DurableWriter {
    /// Space for removals on a full disk.
    nonisolated var reserve: DiskReserve { DiskReserve(in: place.directory) }

    /// Whether there is something to do.
    var hasChores: Bool {
        if chores.isForgettingDue || chores.isFoldingDue || hasHistoryChores { return true }
        if chores.isReserveOfUse, !reserve.isThere { return true }
        return hasFreePages
    }

    /// Whether there are free pages that can be returned, so that removed values may still be in the file.
    package var hasFreePages: Bool {
        guard !chores.isStuck, let connection else { return false }
        return (try? FreePages(of: connection).count()) ?? 0 > 0
    }

    /// Whether removed values may still be in the file: in free pages, or as entries of dropped domains.
    package var mayHoldRemovedValues: Bool {
        guard let connection else { return false }
        return hasFreePages || (try? DroppedDomains(on: connection).areThere()) ?? false
    }

    /// Does one step: returns free pages to the disk, forgets surplus tokens and empty domains, and makes
    /// the reserve.
    ///
    /// - Returns: Whether there is more to do.
    /// - Throws: `.cannotWrite` if the disk refuses. The work is tried again after the next flush.
    package func tidy() throws(StorageError) -> Bool {
        // A change to a store that was removed or replaced would be lost.
        guard let connection, backup == nil, !identity.isLost(from: file) else { return false }
        do throws(SQLiteError) {
            let isMore = try writing(tidySome)
            chores.hasFailed = false
            if isMore { return true }
        } catch {
            if makeSpace(on: connection, after: error) { return true }
            throw .storeFailure(file.path, error, .cannotWrite)
        }
        if chores.hasReleasedReserve, reserve.takeBack() { chores.hasReleasedReserve = false }
        if chores.isReserveOfUse { chores.isReserveOfUse = reserve.make() }
        // The history comes last: nothing waits for it.
        return tidyHistory()
    }

    /// Makes space for a smaller step after one that failed.
    ///
    /// Each step that succeeds removes something, so steps that fail and succeed by turns end.
    ///
    /// - Returns: Whether the step is worth another try: not if it has failed twice.
    private func makeSpace(on connection: Connection, after error: SQLiteError) -> Bool {
        // After the log is folded back, it may have the space that the disk does not have.
        _ = try? FreePages(of: connection).finish()
        noteLogSize()
        let isFirst = !chores.hasFailed
        (chores.hasFailed, chores.isTight, chores.isStuck) = (true, true, !isFirst)
        guard error.isOfFullDisk else { return isFirst }
        if isFirst {
            chores.hasReleasedReserve = reserve.release() || chores.hasReleasedReserve
        } else if chores.hasReleasedReserve, reserve.takeBack() {
            chores.hasReleasedReserve = false
        }
        return isFirst
    }

    private func tidySome(_ connection: Connection) throws(SQLiteError) -> Bool {
        let pages = FreePages(of: connection)
        let place = place.directory
        let space = { (try? place.freeSpace()) ?? 0 }
        if !chores.isStuck, try pages.returnSome(isTight: chores.isTight, space: space) {
            chores.isFoldingDue = true
            return true
        }
        chores.isStuck = true
        // Before anything else, or the log would grow with each step. A long read prevents it. Then it
        // is tried again after the next flush.
        if chores.isFoldingDue { chores.isFoldingDue = try !pages.finish() }
        if chores.isForgettingDue {
            let isErased = chores.isFoldingDue ? false : try pages.areErased()
            if try Forgetting(on: connection)
                .forgetSome(isTight: chores.isTight, isErased: isErased)
            {
                chores.isStuck = false
                return true
            }
            chores.noteForgotten(hasDropped: try DroppedDomains(on: connection).areThere())
        }
        return false
    }
}

extension SQLiteError {
    /// Whether the disk, or the user's quota of it, has no space left.
    var isOfFullDisk: Bool {
        code == .full || message.hasSuffix(String(cString: strerror(EDQUOT)))
    }
}
