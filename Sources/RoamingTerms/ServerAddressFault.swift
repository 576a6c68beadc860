/// Why the address of a server must not be stored, as far as the text itself shows it.
///
/// Every program of the user can read the address. So it must not contain a secret, and a tool has to
/// know that before it stores the address, without libpq. What this accepts, the service checks again
/// by libpq.
///
/// See [Connection
/// Strings](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING).
package enum ServerAddressFault: Error, Sendable, Equatable {
    /// It contains a secret, under this keyword of libpq.
    case secret(String)
    /// It is neither a list of words such as `host=NAME` nor a URI.
    case unreadable

    /// The keywords of all versions of libpq whose values are secrets.
    package static let secrets: Set = [
        "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
    ]

    /// The fault of an address; nil if it may be stored.
    package init?(of address: String) {
        let fault =
            if let rest = Self.afterScheme(of: address) {
                Self.fault(ofURI: rest)
            } else {
                Self.fault(ofWords: address)
            }
        guard let fault else { return nil }
        self = fault
    }

    private static func fault(ofKeyword keyword: some StringProtocol) -> Self? {
        let keyword = keyword.lowercased()
        return secrets.contains(keyword) ? .secret(keyword) : nil
    }
}

// MARK: URIs

extension ServerAddressFault {
    private static func afterScheme(of address: String) -> Substring? {
        for scheme in ["postgresql://", "postgres://"] where address.hasPrefix(scheme) {
            return address.dropFirst(scheme.count)
        }
        return nil
    }

    /// The fault of a URI, without its scheme.
    ///
    /// A password with `/`, `?` or `@` that is not percent-encoded makes another URI of it, which must
    /// not be stored either. So all that could be meant as a password counts as one.
    private static func fault(ofURI rest: Substring) -> Self? {
        let path = rest.prefix { $0 != "?" }
        for part in [rest.prefix { $0 != "/" }, path] {
            if let end = part.lastIndex(of: "@"), part[..<end].contains(":") {
                return .secret("password")
            }
        }
        for parameter in rest.split(whereSeparator: { $0 == "?" || $0 == "&" }) {
            let keyword = decoded(parameter.prefix { $0 != "=" })
            if let fault = fault(ofKeyword: keyword) { return fault }
        }
        return nil
    }

    /// A text without its percent-encoding.
    private static func decoded(_ text: Substring) -> String {
        var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text.utf8)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: Lists of words

extension ServerAddressFault {
    /// The fault of a list such as `host=NAME dbname='my data'`.
    private static func fault(ofWords address: String) -> Self? {
        var rest = address.utf8[...]
        skipSpace(&rest)
        var isUnreadable = rest.isEmpty
        while !rest.isEmpty {
            let keyword = rest.prefix { $0 != UInt8(ascii: "=") && !isSpace($0) }
            rest = rest[keyword.endIndex...]
            skipSpace(&rest)
            // A list that is wrong may have a secret all the same.
            if let fault = fault(ofKeyword: Substring(keyword)) { return fault }
            let hasValue = rest.first == UInt8(ascii: "=")
            if keyword.isEmpty || !hasValue { isUnreadable = true }
            guard hasValue else { continue }
            rest = rest.dropFirst()
            skipSpace(&rest)
            guard let value = takeValue(&rest) else { return .unreadable }
            // The name of a database may be an address itself.
            if keyword.elementsEqual("dbname".utf8),
                case .secret(let inner) = ServerAddressFault(of: value)
            {
                return .secret(inner)
            }
            skipSpace(&rest)
        }
        return isUnreadable ? .unreadable : nil
    }

    /// Takes a value, which may be quoted; nil if its quotation does not end.
    private static func takeValue(_ rest: inout Substring.UTF8View) -> String? {
        let quote = UInt8(ascii: "'")
        let isQuoted = rest.first == quote
        if isQuoted { rest = rest.dropFirst() }
        var value: [UInt8] = []
        while let byte = rest.first, isQuoted || !isSpace(byte) {
            rest = rest.dropFirst()
            if isQuoted, byte == quote { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                if let escaped = rest.popFirst() { value.append(escaped) }
            } else {
                value.append(byte)
            }
        }
        return isQuoted ? nil : String(decoding: value, as: UTF8.self)
    }

    private static func skipSpace(_ rest: inout Substring.UTF8View) {
        rest = rest.drop(while: isSpace)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}
