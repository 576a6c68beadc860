internal import CSQLite

extension Statement {
    /// Whether the column of this row is NULL.
    public func isNull(at column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The column of this row as an integer; 0 where it is NULL.
    public func integer(at column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// The column of this row as text; nil where it is NULL, or where memory ran out.
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    public func text(at column: Int32) -> String? {
        // The text must be asked for before its length, which belongs to the converted form.
        guard let characters = sqlite3_column_text(handle, column) else { return nil }
        // The pointer is SQLite's and lives until the next step or reset; the string copies.
        let length = Int(sqlite3_column_bytes(handle, column))
        return String(
            decoding: UnsafeBufferPointer(start: characters, count: length), as: UTF8.self)
    }

    /// The column of this row as bytes, copied once; nil where it is NULL.
    public func blob(at column: Int32) -> [UInt8]? {
        guard !isNull(at: column) else { return nil }
        // The pointer is SQLite's and lives until the next step or reset; the array copies. It is
        // null for a blob of no bytes.
        let address = sqlite3_column_blob(handle, column)
        let length = Int(sqlite3_column_bytes(handle, column))
        return [UInt8](UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : length))
    }
}
