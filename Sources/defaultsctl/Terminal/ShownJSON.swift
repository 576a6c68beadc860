@preconcurrency import Glibc
import KeyedArchive

/// JSON as it is printed.
enum ShownJSON {
    /// On a terminal with escapes for what that would obey, which in JSON stands in strings alone,
    /// but for line breaks, which stand between its elements alone; elsewhere as it is.
    static func text(_ json: String) -> String {
        guard isatty(STDOUT_FILENO) == 1, json.unicodeScalars.contains(where: isEscaped) else {
            return json
        }
        return json.unicodeScalars.map { scalar in
            guard isEscaped(scalar) else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }.joined()
        }.joined()
    }

    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isUnseen && scalar != "\n"
    }

    /// An object of members whose values are JSON already.
    static func object(_ members: [(String, String)]) throws -> String {
        "{\(try members.map { "\(try $0.0.quoted):\($0.1)" }.joined(separator: ","))}"
    }
}
