/// Why a path cannot be read, or leads nowhere, or why a value cannot be changed there.
public struct ValuePathError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The text is no path.
        public static let syntax = Code(name: "syntax")
        /// There is no part of this name, or no element of this number.
        public static let notFound = Code(name: "notFound")
        /// The value has no parts, or is nil.
        public static let noParts = Code(name: "noParts")
        /// The parts of the value have numbers where the step is a name, or the reverse.
        public static let wrongStep = Code(name: "wrongStep")
        /// What is there, or would be, cannot be set or removed.
        public static let notEditable = Code(name: "notEditable")
        /// The value cannot stand where it is to be set.
        public static let badValue = Code(name: "badValue")
    }

    /// The kind of the error.
    public let code: Code
    /// The number of the step that fails, from 1; 0 is the whole value; nil where the text is no path.
    public let step: Int?
    /// Where the text is no path, the column from 1, in characters of Unicode (code points).
    public let column: Int?
    /// A sentence that says what is wrong; it names steps of the path, and never a stored value.
    public let message: String

    init(_ code: Code, step: Int? = nil, column: Int? = nil, _ message: String) {
        self.code = code
        self.step = step
        self.column = column
        self.message = message
    }
}

extension ValuePathError: CustomStringConvertible {
    /// The sentence.
    public var description: String { message }
}
