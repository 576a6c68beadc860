/// A place in the text of an XML document.
public struct XMLPlace: Hashable, Sendable {
    private let storedLine, storedColumn, storedOffset: UInt32

    /// The line, counted from 1.
    public var line: Int { Int(storedLine) }
    /// The column in that line, counted from 1 in characters of Unicode (code points).
    public var column: Int { Int(storedColumn) }
    /// The offset in the bytes, in whatever encoding they are, counted from 0.
    public var byteOffset: Int { Int(storedOffset) }

    init(line: Int, column: Int, byteOffset: Int) {
        // One is kept for each object, so they are kept narrow.
        storedLine = UInt32(clamping: line)
        storedColumn = UInt32(clamping: column)
        storedOffset = UInt32(clamping: byteOffset)
    }
}

extension XMLPlace: CustomStringConvertible {
    /// The place for people to read.
    public var description: String { "line \(line), column \(column), byte \(byteOffset)" }
}

/// Why bytes are no property list in XML, and where.
public struct XMLPropertyListError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The bytes are no XML.
        public static let syntax = Code(name: "syntax")
        /// The XML declares or uses an entity that no property list has.
        public static let entity = Code(name: "entity")
        /// An element or a text stands where none of its kind may be.
        public static let structure = Code(name: "structure")
        /// A dictionary has a key twice, or one without a value.
        public static let badKey = Code(name: "badKey")
        /// The text of an element is no number, date or base64, as the element says it is.
        public static let badValue = Code(name: "badValue")
        /// The property list is larger or deeper than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    public let code: Code
    /// Where in the text it was found.
    public let place: XMLPlace
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String

    init(_ code: Code, at place: XMLPlace, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }
}

extension XMLPropertyListError: CustomStringConvertible {
    /// The sentence and the place.
    public var description: String { "\(message) (\(place))" }
}

/// Why a binary property list cannot be written as XML, and where.
public struct XMLWritingError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// XML has no spelling for a value.
        public static let notRepresentable = Code(name: "notRepresentable")
        /// The text would be larger than the limit allows.
        public static let outputTooLarge = Code(name: "outputTooLarge")
    }

    /// The kind of the error.
    public let code: Code
    /// Where in the binary property list the value is, counted from 0.
    public let byteOffset: Int
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String

    init(_ code: Code, at byteOffset: Int, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
    }
}

extension XMLWritingError: CustomStringConvertible {
    /// The sentence and the place.
    public var description: String { "\(message) (byte \(byteOffset))" }
}
