internal import PropertyList

/// Writes the value form as JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)).
///
/// The output depends only on the events. It is UTF-8, whatever the strings contain.
struct JSONWriter: ValueFormSink {
    /// The output has exceeded its limit.
    struct OutputIsFull: Error {}

    private(set) var output: [UInt8] = []
    private let isPretty: Bool
    /// Whether dates are in ISO 8601, if that is exact.
    private let hasISODates: Bool
    /// The approximate limit in bytes.
    ///
    /// A single value may exceed it: brackets, escapes and the indentation of deep lines can need
    /// much more than the value.
    private let limit: Int
    /// How many arrays and dictionaries are open.
    private var depth = 0
    /// Whether the innermost open collection has no element yet.
    private var isEmpty = true
    private var isAfterKey = false

    init(isPretty: Bool, hasISODates: Bool, limit: Int) {
        self.isPretty = isPretty
        self.hasISODates = hasISODates
        self.limit = limit
    }

    mutating func null() throws {
        try beginValue()
        append("null")
    }

    mutating func boolean(_ value: Bool) throws {
        try beginValue()
        append(value ? "true" : "false")
    }

    mutating func integer(_ value: Int128) throws {
        try beginValue()
        output += value.description.utf8
    }

    /// Writes the shortest digits that read back as the same number, with a point or an exponent.
    mutating func real(_ value: Double) throws {
        if value.isFinite {
            try beginValue()
            output += value.description.utf8
        } else {
            let name: Text = value.isNaN ? "nan" : value < 0 ? "-inf" : "inf"
            try spell("$real") { try $0.string(name) }
        }
    }

    mutating func string(_ value: Text) throws {
        try beginValue()
        append(quoted: value)
    }

    mutating func data(_ value: ArraySlice<UInt8>) throws {
        try spell("$data") { $0.append(base64: value) }
    }

    mutating func bytes(_ value: ArraySlice<UInt8>) throws {
        try spell("$bytes") { $0.append(base64: value) }
    }

    mutating func date(_ secondsSince2001: Double) throws {
        let text = hasISODates ? ISODate.text(secondsSince2001: secondsSince2001) : nil
        try spell("$date") { writer in
            if let text {
                try writer.string(Text(text))
            } else {
                try writer.real(secondsSince2001)
            }
        }
    }

    /// Writes an NSDate object, with its date in ISO 8601 if that is exact.
    mutating func isoDateObject(_ secondsSince2001: Double) throws {
        guard let text = ISODate.text(secondsSince2001: secondsSince2001) else {
            return try dateObject(secondsSince2001)
        }
        try beginDictionary()
        try key("$class")
        try string("NSDate")
        try key("$date")
        try string(Text(text))
        endDictionary()
    }

    mutating func reference(to uid: UInt64) throws {
        try spell("$ref") { try $0.integer(Int128(uid)) }
    }

    mutating func beginArray() throws { try begin("[") }

    mutating func endArray() { end("]") }

    mutating func beginDictionary() throws { try begin("{") }

    mutating func endDictionary() { end("}") }

    mutating func key(_ key: Text) throws {
        try beginValue()
        append(quoted: key)
        append(isPretty ? ": " : ":")
        isAfterKey = true
    }

    var outputPlaces: (nextValue: Int, end: Int)? {
        // On lines of its own, a value depends on its depth.
        guard !isPretty else { return nil }
        let hasComma = depth > 0 && !isEmpty && !isAfterKey
        return (output.count + (hasComma ? 1 : 0), output.count)
    }

    mutating func repeatValue(at place: Range<Int>) throws {
        try beginValue()
        // As a copy: a slice would keep the whole output, which would be copied then.
        output += Array(output[place])
    }
}

// MARK: Layout

extension JSONWriter {
    private mutating func append(_ characters: String) {
        output += characters.utf8
    }

    /// Writes a dictionary with one key that spells a scalar, always on one line.
    private mutating func spell(
        _ key: Text, value: (inout JSONWriter) throws -> Void
    ) throws {
        try beginValue()
        append("{")
        append(quoted: key)
        append(isPretty ? ": " : ":")
        isAfterKey = true
        try value(&self)
        append("}")
    }

    /// Writes the separator before a value.
    private mutating func beginValue() throws {
        guard output.count <= limit else { throw OutputIsFull() }
        guard !isAfterKey else {
            isAfterKey = false
            return
        }
        if depth > 0 {
            if !isEmpty { append(",") }
            breakLine()
        }
        isEmpty = false
    }

    private mutating func begin(_ bracket: String) throws {
        try beginValue()
        append(bracket)
        depth += 1
        isEmpty = true
    }

    private mutating func end(_ bracket: String) {
        depth -= 1
        if !isEmpty { breakLine() }
        append(bracket)
        isEmpty = false
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        append("\n")
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func append(base64 bytes: ArraySlice<UInt8>) {
        isAfterKey = false
        append("\"")
        Base64.encode(bytes, to: &output)
        append("\"")
    }
}

// MARK: Strings

extension JSONWriter {
    private mutating func append(quoted text: Text) {
        append("\"")
        if let string = text.string {
            // Nearly all strings need no escape, and are copied unchanged.
            if string.utf8.allSatisfy(Self.isPlain) {
                append(string)
            } else {
                for byte in string.utf8 { append(character: byte) }
            }
        } else {
            append(illFormed: text.codeUnits)
        }
        append("\"")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Writes a byte of UTF-8, escaped if necessary.
    private mutating func append(character byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        case 0x00..<0x20: append(escaped: UInt16(byte))
        default: output.append(byte)
        }
    }

    private mutating func append(escaped unit: UInt16) {
        append("\\u")
        let digits = String(unit, radix: 16)
        output.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        output += digits.utf8
    }

    /// Writes code units.
    ///
    /// Unpaired surrogates are written as escapes.
    private mutating func append(illFormed codeUnits: [UInt16]) {
        var rest = codeUnits[...]
        while let unit = rest.popFirst() {
            var character = [unit]
            if UTF16.isLeadSurrogate(unit), let next = rest.first, UTF16.isTrailSurrogate(next) {
                character.append(rest.removeFirst())
            }
            if let string = String(validating: character, as: UTF16.self) {
                for byte in string.utf8 { append(character: byte) }
            } else {
                append(escaped: unit)
            }
        }
    }
}
