/// A place in the text of an XML document.
package struct XMLPlace: Hashable, Sendable {
    private let storedLine, storedColumn, storedOffset: UInt32

    /// The line, counted from 1.
    package var line: Int { Int(storedLine) }
    /// The column in that line, counted from 1 in characters of Unicode (code points).
    package var column: Int { Int(storedColumn) }
    /// The offset in the original bytes, from 0.
    package var byteOffset: Int { Int(storedOffset) }

    init(line: Int, column: Int, byteOffset: Int) {
        // One place is kept for each object, so it is stored in 32 bits.
        storedLine = UInt32(clamping: line)
        storedColumn = UInt32(clamping: column)
        storedOffset = UInt32(clamping: byteOffset)
    }
}

extension XMLPlace: CustomStringConvertible {
    /// The place as text for people.
    package var description: String { "line \(line), column \(column), byte \(byteOffset)" }
}

/// Why bytes are not a property list in XML, and at which place.
package struct XMLPropertyListError: Error, Hashable {
    /// The kind of the error, for programs.
    package struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        package let name: String

        /// The bytes are not XML.
        package static let syntax = Code(name: "syntax")
        /// The XML declares or uses an entity that property lists do not have.
        package static let entity = Code(name: "entity")
        /// An element or a text is not allowed at its place.
        package static let structure = Code(name: "structure")
        /// A dictionary has a key twice, or one without a value.
        package static let badKey = Code(name: "badKey")
        /// The text of an element is not a number, date or base64, as the element requires.
        package static let badValue = Code(name: "badValue")
        /// The property list is larger or deeper than the limits allow.
        package static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    package let code: Code
    /// The place of the error in the text.
    package let place: XMLPlace
    /// A sentence that says what is wrong; it never contains a stored value.
    package let message: String

    init(_ code: Code, at place: XMLPlace, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }
}

extension XMLPropertyListError: CustomStringConvertible {
    /// The message and the place.
    package var description: String { "\(message) (\(place))" }
}

/// Why a binary property list cannot be written as XML, and for which value.
package struct XMLWritingError: Error, Hashable {
    /// The kind of the error, for programs.
    package struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        package let name: String

        /// XML has no spelling for a value.
        package static let notRepresentable = Code(name: "notRepresentable")
        /// The text would be larger than the limit allows.
        package static let outputTooLarge = Code(name: "outputTooLarge")
    }

    /// The kind of the error.
    package let code: Code
    /// The offset of the value in the binary property list, from 0.
    package let byteOffset: Int
    /// A sentence that says what is wrong; it never contains a stored value.
    package let message: String

    init(_ code: Code, at byteOffset: Int, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
    }
}

extension XMLWritingError: CustomStringConvertible {
    /// The message and the place.
    package var description: String { "\(message) (byte \(byteOffset))" }
}

/// The messages of these errors.
extension XMLPropertyListError {
    static func tooLarge(byteCount: Int, limit: Int) -> XMLPropertyListError {
        XMLPropertyListError(
            .limitExceeded, at: XMLPlace(line: 1, column: 1, byteOffset: 0),
            "The property list has \(byteCount) bytes; the limit is \(limit).")
    }

    static func tooManyObjects(limit: Int, at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .limitExceeded, at: place,
            "The property list has more than \(limit) objects, which is the limit.")
    }

    static func tooDeep(limit: Int, at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .limitExceeded, at: place, "The collections are nested deeper than \(limit) levels.")
    }

    static func syntax(_ reason: String, at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.syntax, at: place, "This is not well-formed XML: \(reason).")
    }

    static func entityDeclared(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .entity, at: place, "The document declares an entity, which a property list cannot.")
    }

    static func entityUnknown(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .entity, at: place, "The text refers to an entity that XML does not define.")
    }

    static func notPropertyList(_ name: String, at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .structure, at: place,
            "This is XML, but not a property list: its outermost element, \(tag(name)), is neither "
                + "<plist> nor a value.")
    }

    static func unknownElement(_ name: String, at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .structure, at: place,
            "A property list has no element \(tag(name)), only dict, array, string, "
                + "integer, real, true, false, date and data.")
    }

    /// The tag of an element for messages, shortened if it is long.
    private static func tag(_ name: String) -> String {
        let longest = 40
        let start = name.unicodeScalars.prefix(longest)
        return "<\(String(start))\(start.endIndex < name.endIndex ? "…" : "")>"
    }

    static func misplacedPlist(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.structure, at: place, "A <plist> is inside another one.")
    }

    static func elementInScalar(_ scalar: ScalarElement, at place: XMLPlace)
        -> XMLPropertyListError
    {
        XMLPropertyListError(
            .structure, at: place,
            "An element is inside <\(scalar.rawValue)>, which can only have text.")
    }

    static func textBetweenElements(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .structure, at: place,
            "There is text between the elements; only white space is allowed.")
    }

    static func textInBoolean(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .structure, at: place, "There is text inside <true> or <false>, which must be empty.")
    }

    static func noValue(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.structure, at: place, "The <plist> is empty; it must hold a value.")
    }

    static func secondValue(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.structure, at: place, "The <plist> holds more than one value.")
    }

    static func valueWithoutKey(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .badKey, at: place, "A value in a <dict> has no <key> before it.")
    }

    static func keyWithoutValue(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.badKey, at: place, "A <key> has no value after it.")
    }

    static func keyOutsideDictionary(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.badKey, at: place, "A <key> is outside a <dict>.")
    }

    static func duplicateKey(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(.badKey, at: place, "The <dict> has the same <key> twice.")
    }

    static func badValue(
        _ element: ScalarElement, needs: StaticString, at place: XMLPlace
    ) -> XMLPropertyListError {
        XMLPropertyListError(
            .badValue, at: place, "The text of <\(element.rawValue)> is wrong: it must be \(needs)."
        )
    }

    static func badUID(at place: XMLPlace) -> XMLPropertyListError {
        XMLPropertyListError(
            .badValue, at: place, "A CF$UID is not a number from 0 to 18446744073709551615.")
    }
}

/// The messages of errors in writing.
extension XMLWritingError {
    static func cannotHold(_ what: StaticString, at offset: Int) -> XMLWritingError {
        XMLWritingError(
            .notRepresentable, at: offset, "A property list in XML cannot hold this: \(what).")
    }

    static func outputTooLarge(limit: Int, at offset: Int) -> XMLWritingError {
        XMLWritingError(
            .outputTooLarge, at: offset,
            "With each shared collection written out, the property list is larger than \(limit) bytes "
                + "in XML.")
    }
}
