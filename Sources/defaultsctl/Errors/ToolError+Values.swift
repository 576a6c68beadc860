import ArgumentParser
import DefaultsProtocol

/// Messages about words that are not valid values.
///
/// If macOS's tool has a message, it is the same.
extension ToolError {
    static let dataOnTerminal = ToolError(
        "Bytes are not for a terminal. Redirect them to a file, or use --json.", refused)

    static func noScalar(_ key: String, type: String) -> ToolError {
        ToolError(
            "The value of '\(key.onOneLine)' has type \(type), but --raw is for text, numbers, booleans "
                + "and data. Use --json.", refused)
    }

    static func wrongType(_ type: ExactType) -> ToolError {
        ToolError(
            "The current value has the exact type \(type), which this value does not fit. Give a value of "
                + "that type, or delete the key first.", refused)
    }

    static func unfitForSchema(
        _ word: String, _ key: String, _ schema: String, wants wanted: String
    ) -> ToolError {
        ToolError(
            "'\(word.inBrief)' does not fit: for '\(key.onOneLine)' the schema \(schema.onOneLine) demands "
                + "\(wanted). To store the word all the same, put -string before it.", refused)
    }

    static let noValue = ToolError(
        "Give a value: -bool, -int, -float, -string, -data, -date, -array, -dict or --json and what "
            + "to store, or a property list; see defaultsctl write --help", wrongLine)

    /// - Parameter option: The option that already gives a value.
    static func valueTwice(_ option: String) -> ToolError {
        ToolError(
            "Give only one value: \(option) cannot be combined with another value; see defaultsctl "
                + "write --help", wrongLine)
    }

    static func noTypeFlag(_ word: String, meant flag: TypeFlag) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not a type. Did you mean '\(flag.rawValue)'? Its value is the next "
                + "word. To store the word itself, put -string before it.", wrongLine)
    }

    static func hyphenWithoutType(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not a type. To store a word that begins with a hyphen, put -string or '--' "
                + "before it.", wrongLine)
    }

    static func flagWithoutValue(_ flag: TypeFlag) -> ToolError {
        ToolError(
            "\(flag.rawValue) needs a value; see defaultsctl write --help", wrongLine)
    }

    static func noBoolean(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not a boolean. Use true, false, yes, no, 1 or 0.", wrongLine)
    }

    static func noData(_ word: String) -> ToolError {
        ToolError("'\(word.inBrief)' is not data. Use hexadecimal digits, such as 0fbe.", wrongLine)
    }

    static func noDate(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not a date. Use '2024-02-29 14:30:00 +0000', 2024-02-29 or "
                + "now, or what 'date' prints.", wrongLine)
    }

    static func noNumber(_ word: String, _ type: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not \(type). Nothing was stored. -int takes digits, such as 42, and "
                + "-float also a point and an exponent, such as 0.5 and 1e3.", wrongLine)
    }

    static func integerTooLarge(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is out of range: -int takes 64 bits, from \(Int64.min) to "
                + "\(UInt64.max). Nothing was stored.", wrongLine)
    }

    static func realTooLarge(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is larger than any real number. Nothing was stored.", wrongLine)
    }

    static func realTooSmall(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is smaller than any real number except 0. Nothing was stored.",
            wrongLine)
    }

    /// - Parameter advice: What to do instead.
    static func cannotParse(_ word: String, because reason: String, _ advice: String) -> ToolError {
        ToolError(
            "Could not parse: \(word.inBrief). (\(reason)) \(advice)", wrongLine,
            onMacOS: "Could not parse: \(word.onOneLine).  Try single-quoting it.")
    }

    static func unexpectedArgument(_ word: String) -> ToolError {
        ToolError(
            "Unexpected argument \(word.inBrief); leaving defaults unchanged.", wrongLine)
    }

    static let nestedComposite = ToolError(
        "Cannot nest composite types (arrays and dictionaries); leaving defaults unchanged. Write "
            + "the inner one as a property list: '(1, 2)' or '{ key = value; }'.", wrongLine)

    static let keyIsNoString = ToolError("Dictionary keys must be strings", wrongLine)

    static func keyWithoutValue(_ key: String) -> ToolError {
        ToolError("Key \(key.onOneLine) lacks a corresponding value", wrongLine)
    }

    static let repIsNoDictionary = ToolError(
        "Rep argument is not a dictionary. Defaults have not been changed.", refused,
        onMacOS: "\nRep argument is not a dictionary\nDefaults have not been changed.\n")

    static func cannotAppend(to key: String, isArray: Bool) -> ToolError {
        ToolError(
            "Value for key \(key.onOneLine) is not \(isArray ? "an array" : "a dictionary"); cannot "
                + "append.  Leaving defaults unchanged.", refused)
    }
}
