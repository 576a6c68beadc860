import CSQLite

@testable import DefaultsStorage
@testable import SQLite

/// Watches the statements by which a database reads its store, with SQLite's own trace.
///
/// It does so as long as it lives, which is no longer than the database is open.
final class StatementTrace {
    private let connection: OpaquePointer?
    private let onEnd: (OpaquePointer?) -> Void

    /// - Parameter onEnd: Is called when a run of a statement has ended, before anything else is
    ///   read; its argument is the statement.
    init(of database: Database, onEnd: @escaping (OpaquePointer?) -> Void) {
        connection = sqlite3_db_handle(database.contents.store.selectRecord.handle)
        self.onEnd = onEnd
        // SQLite holds the address of this object until `deinit` takes it back.
        sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, _ in
                let trace = context.map {
                    Unmanaged<StatementTrace>.fromOpaque($0).takeUnretainedValue()
                }
                trace?.onEnd(statement.map { OpaquePointer($0) })
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        sqlite3_trace_v2(connection, 0, nil, nil)
    }

    /// The steps of SQLite's virtual machine that a read takes: its cost, the same in every run.
    static func steps(of database: Database, _ read: () throws -> Void) rethrows -> Int {
        var steps = 0
        let trace = StatementTrace(of: database) {
            steps += Int(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_VM_STEP, 1))
        }
        defer { withExtendedLifetime(trace) {} }
        try read()
        return steps
    }
}
