internal import KeyedArchive
package import PropertyList

/// Writes values as macOS's `defaults read` shows them: the old style, indented by four spaces.
///
/// A single scalar has no quotation marks. Inside collections, a string with anything but ASCII
/// letters and digits is in quotation marks, with escapes, so the output is printable ASCII.
/// Booleans are `1` and `0`, and long data is shortened. So this form is for people, and for
/// scripts that read a scalar: types and the middle of data cannot be read back.
///
/// An object is the dictionary of its fields with its `$class`.
package struct DescriptionWriter: ValueFormSink {
    /// The text has exceeded its limit.
    package struct OutputTooLarge: Error, CustomStringConvertible {
        /// The message for people.
        package let description: String
    }

    /// A collection that has not ended yet.
    fileprivate struct Frame {
        let isDictionary: Bool
        var isEmpty = true
    }

    /// A position in the output.
    package struct Mark {
        fileprivate let count: Int
        fileprivate let frames: [Frame]
    }

    /// The output so far, in UTF-8.
    package private(set) var output: [UInt8] = []
    private let limit: Int
    private let hasISODates: Bool
    private var frames: [Frame] = []
    private var isAfterKey = false

    /// Makes a writer that expects one value.
    ///
    /// - Parameters:
    ///   - limit: The approximate limit in bytes. A single scalar may exceed it.
    ///   - hasISODates: Whether dates are in ISO 8601, with their fraction, and not as on macOS.
    package init(limit: Int = ValueFormLimits.standard.size, hasISODates: Bool = false) {
        self.limit = limit
        self.hasISODates = hasISODates
    }

    /// The current position, to return to it later.
    package var mark: Mark { Mark(count: output.count, frames: frames) }

    /// Removes everything that was written since a position.
    ///
    /// No key was open at that time.
    package mutating func rewind(to mark: Mark) {
        output.removeSubrange(mark.count...)
        frames = mark.frames
        isAfterKey = false
    }
}

// MARK: Events

extension DescriptionWriter {
    /// Writes nil as NSNull describes itself.
    package mutating func null() throws { try write(text: "<null>") }

    /// Writes 1 or 0.
    package mutating func boolean(_ value: Bool) throws { try write(text: value ? "1" : "0") }

    /// Writes an integer.
    package mutating func integer(_ value: Int128) throws { try write(text: value.description) }

    /// Writes the shortest digits that read back as the same number.
    package mutating func real(_ value: Double) throws {
        try write(text: DescribedReal(value).text)
    }

    /// Writes a string.
    ///
    /// It has no quotation marks if it is the whole value.
    package mutating func string(_ value: Text) throws {
        try beginValue(isCollection: false)
        if frames.isEmpty { output += value.description.utf8 } else { append(quoted: value) }
        endValue()
    }

    /// Writes the length of data, and its bytes, or the first and the last of many.
    package mutating func data(_ value: ArraySlice<UInt8>) throws {
        try beginValue(isCollection: false)
        output += DescribedData(value).text.utf8
        endValue()
    }

    /// Writes the bytes of a field like data.
    package mutating func bytes(_ value: ArraySlice<UInt8>) throws { try data(value) }

    /// Writes a date in UTC with whole seconds: `2001-01-01 00:00:00 +0000`.
    ///
    /// Or in ISO 8601.
    package mutating func date(_ secondsSince2001: Double) throws {
        // Adding zero removes the sign of negative zero, which ISO 8601 cannot spell.
        if hasISODates, let text = ISODate.text(secondsSince2001: secondsSince2001 + 0) {
            return try write(text: text)
        }
        guard let date = CalendarDate(secondsSince2001: secondsSince2001) else {
            return try real(secondsSince2001)
        }
        let parts = date.description.dropLast().split(separator: "T")
        try write(text: parts.joined(separator: " ") + " +0000")
    }

    /// Writes the number of the object around this place.
    package mutating func reference(to uid: UInt64) throws { try write(text: "#\(uid)") }

    /// Begins an array.
    package mutating func beginArray() throws { try begin("(", isDictionary: false) }

    /// Ends the innermost array.
    package mutating func endArray() throws {
        if frames.last?.isEmpty == false { append("\n") }
        end(")")
    }

    /// Begins a dictionary.
    package mutating func beginDictionary() throws { try begin("{", isDictionary: true) }

    /// Begins a dictionary with any keys.
    package mutating func beginDictionaryOfAnyKeys() throws -> Bool {
        try beginDictionary()
        return true
    }

    /// Writes the key of the next value.
    package mutating func key(_ key: Text) throws {
        guard output.count <= limit else { throw Self.tooLarge(limit) }
        indent()
        append(quoted: key)
        append(" = ")
        isAfterKey = true
    }

    /// Ends the innermost dictionary.
    package mutating func endDictionary() throws { end("}") }
}

// MARK: Layout

extension DescriptionWriter {
    private static func tooLarge(_ limit: Int) -> OutputTooLarge {
        OutputTooLarge(
            description:
                "The value is larger than \(limit) bytes with each shared part written out.")
    }

    private mutating func append(_ text: String) {
        output += text.utf8
    }

    private mutating func indent() {
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 4 * frames.count))
    }

    /// Writes a scalar whose characters are printable ASCII.
    private mutating func write(text: String) throws {
        try beginValue(isCollection: false)
        if frames.isEmpty { append(text) } else { append(quoted: Text(text)) }
        endValue()
    }

    private mutating func beginValue(isCollection: Bool) throws {
        guard output.count <= limit else { throw Self.tooLarge(limit) }
        if isAfterKey {
            isAfterKey = false
        } else if let frame = frames.last {
            precondition(!frame.isDictionary, "A value came without its key.")
            append(frame.isEmpty ? "" : ",\n")
            indent()
        }
        if !frames.isEmpty { frames[frames.count - 1].isEmpty = false }
        // Collections are indented as if they were at the beginning of a line.
        if isCollection { indent() }
    }

    private mutating func endValue() {
        if frames.last?.isDictionary == true { append(";\n") }
    }

    private mutating func begin(_ bracket: String, isDictionary: Bool) throws {
        try beginValue(isCollection: true)
        append(bracket)
        append("\n")
        frames.append(Frame(isDictionary: isDictionary))
    }

    private mutating func end(_ bracket: String) {
        precondition(!frames.isEmpty, "An end came unexpectedly.")
        frames.removeLast()
        indent()
        append(bracket)
        endValue()
    }

    private mutating func append(quoted text: Text) {
        QuotedText(text).append(to: &output)
    }
}
