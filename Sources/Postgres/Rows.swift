internal import CPostgres

/// The rows that a statement returned.
///
/// Nothing changes the result after it was made, and libpq reads it without locks. So it is shared
/// between threads (`@unchecked Sendable`).
package final class Rows: @unchecked Sendable {
    /// The one owner of the C result, freed in `deinit`.
    private let result: OpaquePointer

    init(owning result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    /// The number of rows.
    package var count: Int { Int(PQntuples(result)) }

    /// How many rows the statement has changed.
    package var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Whether there is no value.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    /// A `text`, `name` or `varchar`; empty for NULL.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        guard
            let text = withValue(row, column, { String(validating: $0, as: UTF8.self) })
        else { throw Self.unexpected("text that is not UTF-8") }
        return text
    }

    /// A `bigint`; nil for NULL.
    package func integer(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        if isNull(row, column) { return nil }
        return try number(row, column)
    }

    /// A `timestamptz` in microseconds since 1970; nil for NULL.
    package func time(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        try integer(row, column).map(PostgresTime.microseconds)
    }

    /// A `bool`; false for NULL.
    package func boolean(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        if isNull(row, column) { return false }
        let value: UInt8 = try number(row, column)
        return value != 0
    }

    /// A `bytea` or `uuid`; nil for NULL.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        isNull(row, column) ? nil : withValue(row, column) { Array($0) }
    }

    private func number<Number: FixedWidthInteger>(
        _ row: Int, _ column: Int
    ) throws(PostgresError) -> Number {
        let value: Number? = withValue(row, column) { bytes in
            guard bytes.count == Number.bitWidth / 8 else { return nil }
            return bytes.reduce(into: 0) { $0 = $0 << 8 | Number($1) }
        }
        guard let value else { throw Self.unexpected("a number of another size") }
        return value
    }

    private func withValue<Value>(
        _ row: Int, _ column: Int, _ read: (UnsafeRawBufferPointer) -> Value
    ) -> Value {
        let (row, column) = (Int32(row), Int32(column))
        // For a row or column that is not there, libpq returns no pointer and the length 0.
        let length = Int(PQgetlength(result, row, column))
        return read(UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length))
    }

    private static func unexpected(_ what: String) -> PostgresError {
        PostgresError(.unexpected, "the server has sent \(what)")
    }
}
