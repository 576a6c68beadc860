internal import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// A database as it was at one moment, to be read on another thread while it goes on changing.
///
/// It has a connection of its own, on which one transaction reads as long as the snapshot lives, and a
/// copy of what was pending. So it takes no lock that a change or a flush waits for; only the write-ahead
/// log cannot begin from its start before the end of it.
///
/// Invariants:
/// 1. Everything that it gives is of one generation.
/// 2. One thread at a time uses it: it is made on the thread of the database, and belongs to the one that
///    it is given to after that (hence `@unchecked Sendable`).
/// 3. Closing it leaves the files as they are: they may not bear the store's names any more.
package final class DatabaseSnapshot: @unchecked Sendable {
    private let connection: Connection
    private var opened: DatabaseView?

    init(
        of file: StoreFile, under overlay: PendingOverlay, at counter: GenerationCounter,
        identity: StoreIdentity
    ) throws(StorageError) {
        connection = try file.connect()
        connection.keepLogOnClose(true)
        do {
            try connection.pragma("query_only", "ON")
            try connection.execute("BEGIN")
        } catch {
            throw .storeFailure(file.path, error, .cannotOpen)
        }
        // The first read is what fixes the moment.
        _ = try file.state(connection)
        guard try file.identity() == identity else { throw .storeGone(file.path) }
        var contents = DatabaseContents(over: try StoreReader(connection, path: file.path))
        contents.overlay = overlay
        opened = DatabaseView(contents: contents, counter: counter, path: file.path)
    }

    /// What the database had.
    package var view: DatabaseView {
        guard let opened else { preconditionFailure("the snapshot was used after it was closed") }
        return opened
    }

    /// Ends it; the log is free to begin anew.
    package func close() {
        opened = nil
        // Where it fails there is no transaction any more.
        try? connection.execute("ROLLBACK")
    }
}

extension Database {
    /// Keeps what can be read now for another thread.
    ///
    /// It is closed before the database is, and before the store is made anew.
    ///
    /// - Throws: `.cannotOpen` if a second connection cannot be opened.
    package func snapshot() throws(StorageError) -> DatabaseSnapshot {
        try DatabaseSnapshot(of: file, under: contents.overlay, at: counter, identity: identity)
    }

    /// What the write-ahead log takes up, in bytes.
    package var logSize: Int {
        FileStatus.ifAny(file.logPath)?.size ?? 0
    }
}
