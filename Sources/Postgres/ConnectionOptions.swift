internal import CPostgres
internal import Glibc

/// What a connection string says, by libpq's own keywords.
///
/// See [Parameter Key
/// Words](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS).
package struct ConnectionOptions: Sendable, Equatable {
    /// The values that were given.
    package var values: [String: String]

    /// Options without a string.
    package init(values: [String: String] = [:]) {
        self.values = values
    }

    /// Reads a connection string, of keywords or as a URI.
    ///
    /// - Throws: If it is none. The error does not repeat it: it may have a password.
    package init(parsing string: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(string, &message) else {
            PQfreemem(message)
            throw PostgresError(
                .wrongAddress, "it is neither a list of words such as host=NAME nor a URI")
        }
        defer { PQconninfoFree(options) }
        values = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                values[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
    }

    package subscript(keyword: String) -> String? {
        get { values[keyword] }
        set { values[keyword] = newValue }
    }
}
