internal import PropertyList

/// Strings in a form that is safe for a terminal.
struct VisibleText {
    /// How many code units of a string are shown.
    static let limit = 200

    let isASCII: Bool

    /// A string in quotes, escaped as in Swift, and without the end if it is long.
    func quoted(_ text: Text, codeUnitCount: Int) -> InspectionLine {
        var line = InspectionLine()
        let isWhole = codeUnitCount <= Self.limit
        line.append("\"\(escaped(text, isQuoted: true))\(isWhole ? "" : ellipsis)\"", .string)
        if !isWhole { line.append(" (\(codeUnitCount) UTF-16 code units)", .note) }
        return line
    }

    /// A name without quotes if it is one word, otherwise in quotes.
    func name(_ text: Text, codeUnitCount: Int) -> String {
        let isWord = text.string?.utf8.allSatisfy(Self.isWordCharacter) ?? false
        let end = codeUnitCount <= Self.limit ? "" : ellipsis
        return isWord && text.byteCount > 0
            ? escaped(text, isQuoted: false) + end : "\"\(escaped(text, isQuoted: true))\(end)\""
    }

    var ellipsis: String { isASCII ? "..." : "…" }

    private static func isWordCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: "_.$-".utf8.contains(byte)
        }
    }

    private func escaped(_ text: Text, isQuoted: Bool) -> String {
        // Nearly all strings need no escapes.
        if let string = text.string, string.utf8.allSatisfy(Self.isPlain) { return string }
        var result = ""
        var rest = text.codeUnits[...]
        while let unit = rest.popFirst() {
            var character = [unit]
            if UTF16.isLeadSurrogate(unit), let next = rest.first, UTF16.isTrailSurrogate(next) {
                character.append(rest.removeFirst())
            }
            if let scalar = String(validating: character, as: UTF16.self)?.unicodeScalars.first {
                result += escaped(scalar, isQuoted: isQuoted)
            } else {
                result += Self.escape(UInt32(unit))
            }
        }
        return result
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private func escaped(_ scalar: Unicode.Scalar, isQuoted: Bool) -> String {
        switch scalar {
        case "\"" where isQuoted: return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        guard scalar.isASCII || !isASCII else { return Self.escape(scalar.value) }
        switch scalar.properties.generalCategory {
        // Some of these change how the rest of the line is shown.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
            return Self.escape(scalar.value)
        default:
            return String(scalar)
        }
    }

    private static func escape(_ number: UInt32) -> String {
        "\\u{\(String(number, radix: 16))}"
    }
}
