internal import CSQLite

/// A compiled statement, used any number of times: bind, step, read the columns, reset.
///
/// It owns the compiled form and frees it when it goes out of scope. Parameters count from 1 and
/// columns from 0, as in SQLite's C API.
///
/// ```swift
/// let select = try connection.prepare("SELECT title, pages FROM books WHERE author = ?")
/// try select.bind("Austen", at: 1)
/// while try select.step() {
///     print(select.text(at: 0) ?? "untitled", select.integer(at: 1))
/// }
/// select.reset()
/// ```
package struct Statement: ~Copyable {
    /// The one owner of the compiled statement; every step and column access goes through it.
    let handle: OpaquePointer
    private let sql: String

    init(owning handle: OpaquePointer, sql: String) {
        self.handle = handle
        self.sql = sql
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Steps to the next row.
    ///
    /// - Returns: Whether there is a row to read. After false, the statement starts again.
    /// - Throws: If SQLite fails. The statement is reset, and its read transaction ends.
    package func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        case let code:
            let error = failure(code)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs to the end, ignores all rows, and releases the bound values.
    ///
    /// - Throws: If SQLite fails. The values are released in any case.
    package func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Ends the run and its read transaction, and releases the bound values.
    package func reset() {
        // The result repeats the failure of the last step, which step() has already thrown.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Binds text; SQLite keeps a copy until the next `reset()`.
    ///
    /// - Throws: If there is no such parameter, or the text is too long for SQLite.
    package func bind(_ text: String, at parameter: Int32) throws(SQLiteError) {
        var text = text
        let code = text.withUTF8 { utf8 in
            // The pointer is used during the call only: transient makes SQLite copy the bytes.
            utf8.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text64(
                    handle, parameter, characters.baseAddress, UInt64(characters.count),
                    csqlite_transient(), UInt8(SQLITE_UTF8))
            }
        }
        try check(code)
    }

    /// Binds a blob; SQLite keeps a copy until the next `reset()`.
    ///
    /// - Parameter bytes: The bytes; nil for NULL.
    /// - Throws: If there is no such parameter, or the blob is too long for SQLite.
    package func bind(_ bytes: [UInt8]?, at parameter: Int32) throws(SQLiteError) {
        guard let bytes else { return try check(sqlite3_bind_null(handle, parameter)) }
        let code = bytes.withUnsafeBytes { buffer in
            // A null pointer would bind NULL, so an empty blob is bound by its length.
            buffer.isEmpty
                ? sqlite3_bind_zeroblob(handle, parameter, 0)
                : sqlite3_bind_blob64(
                    handle, parameter, buffer.baseAddress, UInt64(buffer.count), csqlite_transient()
                )
        }
        try check(code)
    }

    /// Binds an integer, or NULL if there is none.
    ///
    /// - Throws: If there is no such parameter.
    package func bind(_ value: Int64?, at parameter: Int32) throws(SQLiteError) {
        guard let value else { return try check(sqlite3_bind_null(handle, parameter)) }
        try check(sqlite3_bind_int64(handle, parameter, value))
    }

    /// Runs to the end with a blob that is not copied, and releases all bound values.
    ///
    /// The bytes are not copied: SQLite reads them where they are, during this call only.
    ///
    /// - Throws: If there is no such parameter, the blob is too long for SQLite, or the statement
    ///   fails.
    package func run(withBlob bytes: [UInt8], at parameter: Int32) throws(SQLiteError) {
        defer { reset() }
        try bytes.span.withUnsafeBytes { (buffer) throws(SQLiteError) in
            // The null destructor is SQLITE_STATIC: the bytes stay valid until run() has released
            // them. A null pointer would bind NULL, so an empty blob is bound by its length.
            if let address = buffer.baseAddress, !buffer.isEmpty {
                try check(
                    sqlite3_bind_blob64(handle, parameter, address, UInt64(buffer.count), nil))
            } else {
                try check(sqlite3_bind_zeroblob(handle, parameter, 0))
            }
            try run()
        }
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        SQLiteError(ofLastCallOn: sqlite3_db_handle(handle), code: code, sql: sql)
    }
}

extension Statement {
    /// Whether the column of this row is NULL.
    package func isNull(at column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The column of this row as an integer; 0 if it is NULL.
    package func integer(at column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    /// The column of this row as text; nil if it is NULL, or if memory ran out.
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    package func text(at column: Int32) -> String? {
        // The text must be read before its length, which is that of the converted text.
        guard let characters = sqlite3_column_text(handle, column) else { return nil }
        // The pointer is SQLite's and lives until the next step or reset; the string copies.
        let length = Int(sqlite3_column_bytes(handle, column))
        return String(
            decoding: UnsafeBufferPointer(start: characters, count: length), as: UTF8.self)
    }

    /// The column of this row as bytes, copied once; nil if it is NULL.
    package func blob(at column: Int32) -> [UInt8]? {
        guard !isNull(at: column) else { return nil }
        // The pointer is SQLite's and lives until the next step or reset; the array copies. It is
        // null for a blob of no bytes.
        let address = sqlite3_column_blob(handle, column)
        let length = Int(sqlite3_column_bytes(handle, column))
        return [UInt8](UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : length))
    }
}
