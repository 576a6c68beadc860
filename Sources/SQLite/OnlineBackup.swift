internal import CSQLite

/// A copy of a database that is made in steps, while the database is in use.
///
/// What the source's connection writes between two steps is written to the copy, too. So a writer
/// that copies through its own connection gets a copy of the final state, and never starts again.
/// If another connection writes, the copy starts again.
///
/// Both connections belong to one thread. The destination is not used for anything else meanwhile,
/// and is unusable before the last step.
///
/// ```swift
/// let backup = try OnlineBackup(of: library, onto: copy)
/// while try backup.step(pages: 256) { serveSomebodyElse() }
/// ```
///
/// See [the online backup API](https://www.sqlite.org/c3ref/backup_finish.html).
package final class OnlineBackup {
    /// The one owner of the C handle, finished after the last step or in `deinit`; nil after that.
    private var handle: OpaquePointer?
    /// Both must outlive the handle.
    private let source: Connection
    private let destination: Connection

    /// Begins a copy, which reads nothing yet.
    ///
    /// - Throws: If the destination is in use.
    package init(of source: Connection, onto destination: Connection) throws(SQLiteError) {
        guard let handle = sqlite3_backup_init(destination.handle, "main", source.handle, "main")
        else {
            throw destination.failure(sqlite3_extended_errcode(destination.handle), "backup")
        }
        self.handle = handle
        self.source = source
        self.destination = destination
    }

    deinit {
        // It repeats the failure of the last step, which step() has already thrown. An incomplete
        // copy is rolled back if the destination has a journal.
        if let handle { sqlite3_backup_finish(handle) }
    }

    /// Copies some more pages.
    ///
    /// - Returns: Whether there is more to copy. After false, the copy is committed, there must be
    ///   no further step, and the destination can be used.
    /// - Throws: If one of the two fails. Then the copy is unusable.
    package func step(pages: Int32) throws(SQLiteError) -> Bool {
        guard let handle else { preconditionFailure("a step was taken after the last one") }
        switch sqlite3_backup_step(handle, pages) {
        case SQLITE_OK: return true
        case SQLITE_DONE:
            self.handle = nil
            try check(sqlite3_backup_finish(handle))
            return false
        case let code:
            try check(code)
            return true
        }
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        let code = ResultCode(rawValue: code)
        throw SQLiteError(extendedCode: code, message: code.description, sql: "backup")
    }
}
