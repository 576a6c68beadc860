public import PropertyList

/// The way from a value to one of its parts: names of dictionary entries and of objects' fields,
/// and numbers of elements.
///
/// ```swift
/// let path = try ValuePath("options.audio.volume")
/// let volume = try archive.value(at: path)
/// ```
///
/// A name stands behind a point, but for the first one; an element's number stands in brackets, and
/// a negative one counts from the end: `books[0].title`, `books[-1]`. A name that has a point, a
/// bracket, a quotation mark or a control character, or nothing at all, stands in quotes, with the
/// escapes of JSON: `options."a.b".c`, or `options["a.b"].c`.
public struct ValuePath: Hashable, Sendable {
    /// One step, from a value to what it holds.
    public enum Step: Hashable, Sendable {
        /// To the entry of a dictionary, or the field of an object.
        case name(Text)
        /// To the element of an array or a set, counted from 0; -1 is the last.
        case index(Int)
    }

    /// The steps, the outermost first; none is the whole value.
    public let steps: [Step]

    /// Makes the path of these steps.
    public init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Reads a path.
    ///
    /// - Throws: ``ValuePathError`` with the column of the first thing found wrong.
    public init(_ spelling: String) throws(ValuePathError) {
        var parser = ValuePathParser(spelling)
        steps = try parser.parse()
    }
}

extension ValuePath: CustomStringConvertible {
    /// The shortest printable spelling that reads back as the same path.
    public var description: String {
        steps.enumerated().map { position, step in
            switch step {
            case .name: (position == 0 ? "" : ".") + step.description
            case .index: step.description
            }
        }.joined()
    }
}

extension ValuePath.Step: CustomStringConvertible {
    /// The step by itself: a name, in quotes where it needs them, or a number in brackets.
    public var description: String {
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
    /// Whether the character ends a line or is not shown at all; all these have four digits.
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
