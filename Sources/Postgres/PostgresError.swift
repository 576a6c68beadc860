internal import CPostgres

/// Something that PostgreSQL refused, or that did not reach it.
///
/// The SQL text is the program's own, and values are never spelled in it. Of the server's error only the
/// state and the primary message are kept, because the details may have values.
package struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package enum Kind: Hashable, Sendable {
        /// The connection could not be made.
        case noConnection
        /// The server asks for a password, and there is none.
        case noPassword
        /// There was a password, and the server does not let its user in.
        case refusedPassword
        /// The connection was lost, or given up after the time limit: it is unknown what was done.
        case lost
        /// The server refused a statement; the state has five characters.
        case refused(state: String)
        /// The server sent something else than was asked for.
        case unexpected
        /// The text is not a connection string.
        case wrongAddress
    }

    /// What kind of failure it is.
    package let kind: Kind
    /// The server's or the library's words, on one line.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The SQLSTATE; nil if no statement was refused.
    ///
    /// See [PostgreSQL Error Codes](https://www.postgresql.org/docs/current/errcodes-appendix.html).
    package var state: String? {
        if case .refused(let state) = kind { state } else { nil }
    }

    /// The message, with the state.
    package var description: String {
        state.map { "\(message) (SQLSTATE \($0))" } ?? message
    }
}

extension PostgresError {
    /// The failure that a result of the server reports.
    init(of result: OpaquePointer) {
        let state = cpostgres_sql_state(result).map { String(cString: $0) }
        let message =
            cpostgres_primary_message(result).map { String(cString: $0) }
            ?? String(cString: PQresultErrorMessage(result))
        if let state {
            self.init(.refused(state: state), Self.line(message))
        } else {
            // The library itself reports the end of the connection in this way.
            self.init(.lost, Self.line(message))
        }
    }

    /// The failure that a connection reports.
    static func lost(_ connection: OpaquePointer?) -> PostgresError {
        let message = line(String(cString: PQerrorMessage(connection)))
        return PostgresError(.lost, message.isEmpty ? "the connection was closed" : message)
    }

    /// The library's messages on one line, because some have several.
    ///
    /// No sentence ends with a full stop, because others join the line to their own words.
    static func line(_ message: String) -> String {
        var sentences: [String] = []
        for line in message.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first?.first else { continue }
            var text = words.joined(separator: " ")
            // A hint is indented, and may go on in the next line.
            if line.first == "\t", first.isLowercase, let last = sentences.popLast() {
                text = "\(last) \(text)"
            }
            sentences.append(text.hasSuffix(".") ? String(text.dropLast()) : text)
        }
        return sentences.joined(separator: "; ")
    }
}
