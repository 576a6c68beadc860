/// An operation that SQLite refused.
///
/// The SQL text is the program's own and values are bound to it, never spelled in it, so neither
/// the error nor its description contains a stored value.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The primary code: what kind of failure it is.
    public let code: ResultCode
    /// The extended code: which one of its kind.
    public let extendedCode: ResultCode
    /// SQLite's own words for this failure.
    public let message: String
    /// The statement that failed, or the path where a file could not be opened.
    public let sql: String

    /// Gathers the facts of a failure.
    public init(extendedCode: ResultCode, message: String, sql: String) {
        code = extendedCode.primary
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// The reason in SQLite's words, with its number.
    public var reason: String { "\(message) (SQLite code \(extendedCode.rawValue))" }

    /// What failed, the reason and SQLite's number of it.
    public var description: String {
        "SQLite refused '\(sql)': \(reason)"
    }
}
