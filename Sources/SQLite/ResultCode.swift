internal import CSQLite

/// A result code of SQLite, primary or extended.
///
/// See [Result and Error Codes](https://www.sqlite.org/rescode.html).
public struct ResultCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number that SQLite's C API returns.
    public let rawValue: Int32

    /// Wraps a number that SQLite's C API returned.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code of an extended one: the low 8 bits; a primary code gives itself.
    public var primary: ResultCode {
        ResultCode(rawValue: rawValue & 0xFF)
    }

    /// SQLite's own English words for the code.
    public var description: String {
        String(cString: sqlite3_errstr(rawValue))
    }

    /// The operation succeeded.
    public static let ok = ResultCode(rawValue: SQLITE_OK)
    /// The statement is none, or names what is not there.
    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    /// Another connection holds a lock that is needed.
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    /// The file system is full.
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    /// The operating system reported an input or output error.
    public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    /// The operating system could not read a part of the file.
    public static let inputOutputRead = ResultCode(rawValue: SQLITE_IOERR | 1 << 8)
    /// The file could not be opened.
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    /// The file's structure is damaged.
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    /// The file is no SQLite database.
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// A constraint of the schema was violated.
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
}
