extension Unicode.Scalar {
    /// Whether a terminal would obey the character, or not show it.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// What stands for the character where it is not to be printed.
    var escape: String { "\\u{\(String(value, radix: 16))}" }
}
