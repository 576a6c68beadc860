internal import CSQLite
internal import Glibc

extension SQLiteError {
    /// Gathers what a connection tells of a call that has just failed.
    ///
    /// SQLite's words for a failure of the system are the same for all of them: so the system's own
    /// are added, as they tell a quota that is used up from a disk that is broken.
    ///
    /// See [sqlite3_system_errno](https://www.sqlite.org/c3ref/system_errno.html).
    init(ofLastCallOn connection: OpaquePointer?, code: Int32, sql: String) {
        let code = ResultCode(rawValue: code)
        var message = String(cString: sqlite3_errmsg(connection))
        let number = sqlite3_system_errno(connection)
        // Of another failure it would be the number of an earlier one.
        if number != 0, code.primary == .inputOutput || code.primary == .cannotOpen {
            message += ": \(String(cString: strerror(number)))"
        }
        self.init(extendedCode: code, message: message, sql: sql)
    }
}
