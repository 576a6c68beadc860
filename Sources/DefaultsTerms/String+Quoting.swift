extension String {
    /// The most characters that a quotation shows.
    private static var longestQuotation: Int { 80 }

    /// The text in quotes, fit for a message or a log: one line, and of bounded length.
    ///
    /// Control and formatting characters are spelled as escapes; what is too long is cut, which
    /// an ellipsis shows.
    package var quotedForMessage: String {
        let shown = unicodeScalars.prefix(String.longestQuotation)
        let quoted = shown.map(String.escaping).joined()
        return shown.endIndex == unicodeScalars.endIndex ? "'\(quoted)'" : "'\(quoted)…'"
    }

    private static func escaping(_ scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            "\\u{\(String(scalar.value, radix: 16))}"
        default:
            String(scalar)
        }
    }
}
