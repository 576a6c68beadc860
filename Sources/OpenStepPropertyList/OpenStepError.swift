/// Why a text is no property list in the old style, and where.
public struct OpenStepError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// A character stands where none of its kind may be.
        public static let syntax = Code(name: "syntax")
        /// Data, a number or a date is spelled as none is.
        public static let badValue = Code(name: "badValue")
        /// The property list is larger or deeper than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    public let code: Code
    /// The line, counted from 1.
    public let line: Int
    /// The column in that line, counted from 1 in characters of Unicode (code points).
    public let column: Int
    /// A sentence that says what is wrong; it never contains a value.
    public let message: String
}

extension OpenStepError: CustomStringConvertible {
    /// The sentence and the place.
    public var description: String { "\(message) (line \(line), column \(column))" }
}
