internal import CSQLite
internal import Glibc

/// An operation that SQLite refused.
///
/// The SQL text is the program's own and values are bound to it, never spelled in it, so neither
/// the error nor its description contains a stored value.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The primary code: what kind of failure it is.
    package let code: ResultCode
    /// The extended code: which one of its kind.
    package let extendedCode: ResultCode
    /// SQLite's own words for this failure.
    package let message: String
    /// The statement that failed, or the path if a file could not be opened.
    package let sql: String

    /// Gathers the facts of a failure.
    package init(extendedCode: ResultCode, message: String, sql: String) {
        code = extendedCode.primary
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// The reason in SQLite's words, with its number.
    package var reason: String { "\(message) (SQLite code \(extendedCode.rawValue))" }

    /// What failed, the reason and SQLite's number of it.
    package var description: String {
        "SQLite refused '\(sql)': \(reason)"
    }
}

extension SQLiteError {
    /// Collects what a connection reports about a call that has just failed.
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

/// A result code of SQLite, primary or extended.
///
/// See [Result and Error Codes](https://www.sqlite.org/rescode.html).
package struct ResultCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number that SQLite's C API returns.
    package let rawValue: Int32

    /// Wraps a number that SQLite's C API returned.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code of an extended one: the low 8 bits; a primary code gives itself.
    package var primary: ResultCode {
        ResultCode(rawValue: rawValue & 0xFF)
    }

    /// SQLite's own English words for the code.
    package var description: String {
        String(cString: sqlite3_errstr(rawValue))
    }

    /// The operation succeeded.
    package static let ok = ResultCode(rawValue: SQLITE_OK)
    /// The statement is none, or names what is not there.
    package static let error = ResultCode(rawValue: SQLITE_ERROR)
    /// Another connection holds a lock that is needed.
    package static let busy = ResultCode(rawValue: SQLITE_BUSY)
    /// The file system is full.
    package static let full = ResultCode(rawValue: SQLITE_FULL)
    /// The operating system reported an input or output error.
    package static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    /// The operating system could not read a part of the file.
    package static let inputOutputRead = ResultCode(rawValue: SQLITE_IOERR | 1 << 8)
    /// The file ended before the part that was to be read.
    package static let inputOutputShortRead = ResultCode(rawValue: SQLITE_IOERR | 2 << 8)
    /// The file could not be opened.
    package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    /// The file's structure is damaged.
    package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    /// The file is no SQLite database.
    package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// A constraint of the schema was violated.
    package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
}
