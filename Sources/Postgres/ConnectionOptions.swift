internal import CPostgres
internal import Glibc

/// What a connection string says, by libpq's own keywords.
///
/// See [Parameter Key
/// Words](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS).
package struct ConnectionOptions: Sendable, Equatable {
    /// The values that were given.
    private(set) var values: [String: String]

    /// Reads a connection string, of keywords or as a URI.
    ///
    /// - Throws: If it is not a connection string. The error does not repeat it: it may have a password.
    package init(parsing string: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(string, &message) else {
            defer { PQfreemem(message) }
            throw PostgresError(
                .wrongAddress,
                Self.unknownOption(in: message.map { String(cString: $0) } ?? "", of: string)
                    ?? "it is neither a list of words such as host=NAME nor a URI")
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

    /// The library's words about an option that it does not know; nil if they are about something else.
    ///
    /// They repeat the name. After a password that is not quoted, this could be a part of it.
    private static func unknownOption(in message: String, of string: String) -> String? {
        let known = ["invalid connection option \"", "invalid URI query parameter: \""]
        let user = string.prefix(upTo: string.lastIndex(of: "@") ?? string.startIndex)
        guard known.contains(where: message.hasPrefix), !string.lowercased().contains("pass"),
            // The first colon is that of the scheme.
            user.count(where: { $0 == ":" }) < 2
        else { return nil }
        return PostgresError.line(message)
    }

    package subscript(keyword: String) -> String? {
        get { values[keyword] }
        set { values[keyword] = newValue }
    }
}
