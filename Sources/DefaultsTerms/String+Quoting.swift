extension String {
    /// A longer text is cut after this many characters.
    private static var longestQuotation: Int { 80 }

    /// The text in quotes for a message or a log: on one line and of limited length.
    ///
    /// Control and formatting characters become escapes. A text that is too long is cut and ends
    /// with an ellipsis.
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
