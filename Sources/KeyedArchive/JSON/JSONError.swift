/// Why a text is no JSON that an archive can be made from, and where.
public struct JSONError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The text is not JSON.
        public static let syntax = Code(name: "syntax")
        /// A number is JSON, but no archive holds it.
        public static let numberOutOfRange = Code(name: "numberOutOfRange")
        /// The text is JSON, but the value cannot be an archive; `cause` says why.
        public static let badValue = Code(name: "badValue")
    }

    /// The kind of the error.
    public let code: Code
    /// The line, counted from 1.
    public let line: Int
    /// The column in that line, counted from 1 in characters of Unicode (code points).
    public let column: Int
    /// A sentence that says what is wrong; it never contains a value.
    public let message: String
    /// Where the value cannot be an archive, why.
    public let cause: ValueFormError?
}

extension JSONError: CustomStringConvertible {
    /// The sentence and the place.
    public var description: String { "\(message) (line \(line), column \(column))" }
}
