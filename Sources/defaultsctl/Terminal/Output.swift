import KeyedArchive

/// Standard output for text from other sources.
///
/// In a pipe or a file it stays as it is. On a terminal, control characters are escaped.
enum SafeOutput {
    /// Prints a text and ends the line.
    static func print(_ text: String) throws(ToolError) { try write("\(text)\n".utf8) }

    /// Prints JSON, which stays valid JSON on a terminal, and ends the line.
    static func print(json: String) throws(ToolError) { try write(json: "\(json)\n".utf8) }

    /// Writes bytes, which must be text if the output is a terminal, and flushes them.
    static func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
        try write(bytes) { $0.withoutControls }
    }

    /// Writes the bytes of JSON, and flushes them.
    static func write(json bytes: some Collection<UInt8>) throws(ToolError) {
        try write(bytes, shownAs: ShownJSON.text)
    }

    private static func write(
        _ bytes: some Collection<UInt8>, shownAs shown: (String) -> String
    ) throws(ToolError) {
        if Defaultsctl.console.isTerminal(.output) {
            try StandardOutput.write(shown(String(decoding: bytes, as: UTF8.self)).utf8)
        } else {
            try StandardOutput.write(bytes)
        }
        try StandardOutput.flush()
    }
}

extension String {
    /// Escapes control characters, except for line breaks and tabs.
    var withoutControls: String {
        guard unicodeScalars.contains(where: Self.steers) else { return self }
        return unicodeScalars.map { Self.steers($0) ? $0.escape : String($0) }.joined()
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isUnseen && scalar != "\n" && scalar != "\t"
    }
}

/// All writes to standard output go through this, so that no error is missed.
enum StandardOutput {
    /// Writes bytes as they are.
    ///
    /// - Throws: ``ToolError`` if they cannot be written.
    static func write(_ bytes: some Collection<UInt8>) throws(ToolError) {
        try Defaultsctl.console.write(Array(bytes))
    }

    /// Flushes what was written.
    static func flush() throws(ToolError) { try Defaultsctl.console.flush() }
}

/// JSON for printing.
enum ShownJSON {
    /// On a terminal, control characters are escaped.
    ///
    /// In JSON they can only be inside strings, except for line breaks, which are between elements.
    /// Elsewhere the JSON stays as it is.
    static func text(_ json: String) -> String {
        guard Defaultsctl.console.isTerminal(.output),
            json.unicodeScalars.contains(where: isEscaped)
        else {
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

    /// A JSON object from members whose values are already JSON.
    static func object(_ members: [(String, String)]) throws -> String {
        "{\(try members.map { "\(try $0.0.quoted):\($0.1)" }.joined(separator: ","))}"
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would obey the character, or not show it.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The escape for a character that must not be printed.
    var escape: String { "\\u{\(String(value, radix: 16))}" }
}
