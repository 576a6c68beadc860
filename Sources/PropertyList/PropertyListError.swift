/// Why bytes are no binary property list that this module reads, and where.
public struct PropertyListError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// There are no bytes at all.
        public static let empty = Code(name: "empty")
        /// The bytes are a property list in XML, where a binary one is asked.
        public static let xml = Code(name: "xml")
        /// The bytes do not begin as a binary property list does.
        public static let badHeader = Code(name: "badHeader")
        /// The bytes end too early.
        public static let truncated = Code(name: "truncated")
        /// The last 32 bytes, which say where everything is, contradict the rest.
        public static let badTrailer = Code(name: "badTrailer")
        /// An object lies outside of the bytes, or is of no known type.
        public static let badObject = Code(name: "badObject")
        /// An object refers to one that does not exist.
        public static let badReference = Code(name: "badReference")
        /// A collection contains itself.
        public static let cycle = Code(name: "cycle")
        /// A dictionary has a key twice, or one that is no string.
        public static let badKey = Code(name: "badKey")
        /// The property list is larger or deeper than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    public let code: Code
    /// Where in the bytes it was found, counted from 0.
    public let byteOffset: Int
    /// A sentence that says what is wrong; it never contains a stored value.
    public let message: String

    init(_ code: Code, at byteOffset: Int, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
    }
}

extension PropertyListError: CustomStringConvertible {
    /// The sentence and the place.
    public var description: String { "\(message) (byte \(byteOffset))" }
}
