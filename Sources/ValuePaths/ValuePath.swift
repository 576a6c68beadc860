internal import KeyedArchive

package import PropertyList

/// The path from a value to one of its parts: names of dictionary entries and object fields, and
/// numbers of elements.
///
/// ```swift
/// let path = try ValuePath("options.audio.volume")
/// let volume = try archive.value(at: path)
/// ```
///
/// Names are separated by points. The number of an element is in brackets, and a negative number
/// counts from the end: `books[0].title`, `books[-1]`. A name is in quotes, with the escapes of
/// JSON, if it is empty or contains a point, a bracket, a quotation mark or a control character:
/// `options."a.b".c`, or `options["a.b"].c`.
package struct ValuePath: Hashable, Sendable {
    /// One step, from a value to one of its parts.
    package enum Step: Hashable, Sendable {
        /// To the entry of a dictionary, or the field of an object.
        case name(Text)
        /// To the element of an array or a set, counted from 0; -1 is the last.
        case index(Int)
    }

    /// The steps, the outermost first.
    ///
    /// No steps mean the whole value.
    package let steps: [Step]

    /// Makes the path of these steps.
    package init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Parses a path.
    ///
    /// - Throws: ``ValuePathError`` with the column of the first fault.
    package init(_ spelling: String) throws(ValuePathError) {
        var parser = ValuePathParser(spelling)
        steps = try parser.parse()
    }
}

extension ValuePath: CustomStringConvertible {
    /// The shortest printable spelling that parses as the same path.
    package var description: String {
        steps.enumerated().map { position, step in
            switch step {
            case .name: (position == 0 ? "" : ".") + step.description
            case .index: step.description
            }
        }.joined()
    }
}

extension ValuePath.Step: CustomStringConvertible {
    /// The spelling of one step: a name, in quotes if necessary, or a number in brackets.
    package var description: String {
        switch self {
        case .index(let index): "[\(index)]"
        case .name(let name):
            if let string = name.string, !string.isEmpty,
                string.unicodeScalars.allSatisfy(\.isPlainInPath)
            {
                string
            } else {
                "\"\(Self.escaped(name))\""
            }
        }
    }

    private static func escaped(_ name: Text) -> String {
        var output = ""
        var rest = name.codeUnits[...]
        while let unit = rest.popFirst() {
            var character = [unit]
            if UTF16.isLeadSurrogate(unit), let next = rest.first, UTF16.isTrailSurrogate(next) {
                character.append(rest.removeFirst())
            }
            let string = String(validating: character, as: UTF16.self)
            output += string?.unicodeScalars.first.map(escaped) ?? escape(unit)
        }
        return output
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\u{8}": "\\b"
        case "\t": "\\t"
        case "\n": "\\n"
        case "\u{C}": "\\f"
        case "\r": "\\r"
        case _ where scalar.isControl: escape(UInt16(truncatingIfNeeded: scalar.value))
        default: String(scalar)
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension Unicode.Scalar {
    /// Whether the character ends a line or is invisible.
    ///
    /// All of these have four digits.
    var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether a name with this character needs no quotes.
    var isPlainInPath: Bool {
        switch self {
        case ".", "[", "]", "\"": false
        default: !isControl
        }
    }
}

/// Parses the spelling of a path.
private struct ValuePathParser {
    private let text: [UInt8]
    private var scanner: JSONScanner

    init(_ spelling: String) {
        text = Array(spelling.utf8)
        scanner = JSONScanner(text)
    }

    mutating func parse() throws(ValuePathError) -> [ValuePath.Step] {
        var steps: [ValuePath.Step] = []
        while !scanner.isAtEnd { steps.append(try step(isFirst: steps.isEmpty)) }
        return steps
    }

    private mutating func step(isFirst: Bool) throws(ValuePathError) -> ValuePath.Step {
        if scanner.skip(UInt8(ascii: "[")) { return try bracket() }
        if !isFirst {
            guard scanner.skip(UInt8(ascii: ".")) else {
                throw fault("A point or an opening bracket is expected here")
            }
        }
        return .name(try scanner.next == UInt8(ascii: "\"") ? quotedName() : plainName())
    }

    /// Parses the text between brackets, and the closing bracket.
    private mutating func bracket() throws(ValuePathError) -> ValuePath.Step {
        let step: ValuePath.Step =
            try scanner.next == UInt8(ascii: "\"") ? .name(quotedName()) : .index(index())
        guard scanner.skip(UInt8(ascii: "]")) else {
            throw fault("A closing bracket is expected here")
        }
        return step
    }

    private mutating func index() throws(ValuePathError) -> Int {
        let start = scanner.offset
        let isNegative = scanner.skip(UInt8(ascii: "-"))
        let digits = take { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let first = digits.utf8.first else {
            throw fault("A number, or a name in quotes, is expected in brackets")
        }
        let hasZero = first == UInt8(ascii: "0")
        guard !hasZero || (digits.utf8.count == 1 && !isNegative) else {
            throw fault("A number has no leading zeros, and -0 is not an element", at: start)
        }
        guard let index = Int(isNegative ? "-" + digits : digits) else {
            throw fault("The number is larger than that of any element", at: start)
        }
        return index
    }

    private mutating func quotedName() throws(ValuePathError) -> Text {
        do throws(JSONFault) {
            return try scanner.string()
        } catch {
            // The message of a path's error ends with its own point.
            let words = error.message.split(separator: ".").joined(separator: ".")
            throw fault(words, at: error.offset)
        }
    }

    private mutating func plainName() throws(ValuePathError) -> Text {
        let start = scanner.offset
        let special: [UInt8] = Array(".[]\"".utf8)
        let name = take { !special.contains($0) }
        guard !name.isEmpty else {
            throw fault("A name is expected here; an empty one is written as \"\"")
        }
        if let position = name.unicodeScalars.firstIndex(where: \.isControl) {
            let before = name.unicodeScalars.prefix(upTo: position)
            throw fault(
                "A name with a control character must be in quotes, with the character as an escape",
                at: start + String(before).utf8.count)
        }
        return Text(name)
    }

    /// Takes the next bytes as long as they match.
    private mutating func take(while isWanted: (UInt8) -> Bool) -> String {
        let start = scanner.offset
        while let byte = scanner.next, isWanted(byte), scanner.skip(byte) {}
        return String(decoding: text[start..<scanner.offset], as: UTF8.self)
    }

    private func fault(_ message: String, at offset: Int? = nil) -> ValuePathError {
        let before = text.prefix(offset ?? scanner.offset)
        // Continuation bytes of a character are not counted.
        return .misspelled(message, column: before.count { $0 & 0xC0 != 0x80 } + 1)
    }
}
