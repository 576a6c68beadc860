import KeyedArchive
import PropertyList

/// How the tool prints a value.
extension KeyedArchive {
    /// The value form as JSON, in one line.
    func jsonText() throws -> String {
        String(decoding: try json(), as: UTF8.self)
    }
}

/// How the tool prints a key.
extension String {
    /// As JSON writes it.
    var quoted: String {
        get throws {
            var builder = ValueFormBuilder()
            try builder.string(Text(self))
            return try builder.finish().jsonText()
        }
    }

    /// Bare where it is printable, else with escapes.
    var onOneLine: String {
        unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }.joined()
    }
}
