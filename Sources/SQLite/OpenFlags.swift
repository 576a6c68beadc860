internal import CSQLite

/// How a database file is opened.
///
/// See [Flags For File Open Operations](https://www.sqlite.org/c3ref/c_open_autoproxy.html).
public struct OpenFlags: OptionSet, Sendable {
    /// The bits as SQLite's C API takes them.
    public let rawValue: Int32

    /// Wraps bits of SQLite's C API.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Open for reading alone.
    public static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
    /// Take the path for a URI, which may have parameters.
    public static let uri = OpenFlags(rawValue: SQLITE_OPEN_URI)
    /// Open for reading and writing.
    public static let readWrite = OpenFlags(rawValue: SQLITE_OPEN_READWRITE)
    /// Make the file where there is none.
    public static let create = OpenFlags(rawValue: SQLITE_OPEN_CREATE)
}
