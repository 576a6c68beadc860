internal import Glibc
internal import SQLite

/// What is to be done in a quiet moment after a flush.
struct Chores {
    /// From how many empty domains on it is looked whether there are too many.
    private static let fewEmptyDomains = 256
    /// From how many tokens on that is looked at.
    private static let fewTokens = 1024

    /// Empty domains, and domains with tokens alone, that flushes have written since the last look;
    /// a process looks at its first flush.
    private var emptyDomains = fewEmptyDomains
    /// Tokens that flushes have written since then.
    private var tokens = 0
    /// Whether a domain that was dropped may have entries; a process does not know what the one
    /// before it left.
    private var hasDropped = true
    /// Whether dropped domains, surplus tokens and empty domains are to be looked for.
    var isForgettingDue: Bool {
        hasDropped || emptyDomains >= Chores.fewEmptyDomains || tokens >= Chores.fewTokens
    }
    /// Whether nothing could be done about the free pages, so that the next flush is waited for.
    var isStuck = false
    /// Whether the last step has failed.
    var hasFailed = false
    /// Whether a step has failed since the last flush, so that the next ones are to write little.
    var isTight = false
    /// Whether the log is to be folded back when the rest is done.
    var isFoldingDue = false
    /// Whether it is of use to make the reserve.
    var isReserveOfUse = true

    mutating func note(_ batch: FlushBatch) {
        emptyDomains += batch.emptyDomains
        tokens += batch.tokenCount
        if batch.clearsDomain { hasDropped = true }
        (isStuck, hasFailed, isTight) = (false, false, false)
    }

    mutating func noteForgotten() {
        (emptyDomains, tokens, hasDropped) = (0, 0, false)
    }
}

/// The work that keeps the store small, step by step between flushes.
///
/// What is free is returned first: before the row of a domain is forgotten, nothing that it had
/// stands in the file any more, where a rescue would find it.
extension DurableWriter {
    /// Space for removals on a full disk.
    nonisolated var reserve: DiskReserve { DiskReserve(in: place.directory) }

    /// Whether there is something to do.
    var hasChores: Bool {
        if chores.isForgettingDue || chores.isFoldingDue { return true }
        if chores.isReserveOfUse, !reserve.isThere { return true }
        return hasFreePages
    }

    /// Whether there are free pages about which something could be done, so that what was removed may
    /// be in the file still.
    public var hasFreePages: Bool {
        guard !chores.isStuck, let connection else { return false }
        return (try? FreePages(of: connection).count()) ?? 0 > 0
    }

    /// Does one step: returns free pages to the disk, forgets surplus tokens and empty domains, and makes
    /// the reserve.
    ///
    /// - Returns: Whether there is more to do.
    /// - Throws: `.cannotWrite` if the disk refuses; it is tried again after the next flush.
    public func tidy() throws(StorageError) -> Bool {
        // What is written to a store that is lost is lost.
        guard let connection, backup == nil, !identity.isLost(from: file) else { return false }
        do throws(SQLiteError) {
            let isMore = try writing(tidySome)
            chores.hasFailed = false
            if isMore { return true }
        } catch {
            if makeSpace(on: connection, after: error) { return true }
            throw .storeFailure(file.path, error, .cannotWrite)
        }
        if chores.isReserveOfUse { chores.isReserveOfUse = reserve.make() }
        return false
    }

    /// Makes space for a smaller step after one that failed.
    ///
    /// Each step that succeeds removes something, so steps that fail and succeed by turns end.
    ///
    /// - Returns: Whether the step is worth another try: not if it has failed twice.
    private func makeSpace(on connection: Connection, after error: SQLiteError) -> Bool {
        // Once the log is folded back, it has space for what the disk has none for.
        _ = try? FreePages(of: connection).finish()
        let isFirst = !chores.hasFailed
        (chores.hasFailed, chores.isTight, chores.isStuck) = (true, true, !isFirst)
        guard error.isOfFullDisk else { return isFirst }
        if isFirst { _ = reserve.release() } else { reserve.takeBack() }
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
        if chores.isForgettingDue {
            if try Forgetting(on: connection).forgetSome(isTight: chores.isTight) {
                chores.isStuck = false
                return true
            }
            chores.noteForgotten()
        }
        // If somebody reads for long, the next flush has it tried again.
        if chores.isFoldingDue { chores.isFoldingDue = try !pages.finish() }
        return false
    }
}

extension SQLiteError {
    /// Whether the disk, or the user's quota of it, has no space left.
    var isOfFullDisk: Bool {
        code == .full || message.hasSuffix(String(cString: strerror(EDQUOT)))
    }
}
