/// Why a value cannot be made into an archive.
public struct ValueFormError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// A key begins with `$` and has no meaning where it stands.
        public static let unknownKey = Code(name: "unknownKey")
        /// A dictionary has a key twice.
        public static let duplicateKey = Code(name: "duplicateKey")
        /// A spelling that is only ever shown, not read.
        public static let outputOnly = Code(name: "outputOnly")
        /// A value that its `$` key does not take.
        public static let badValue = Code(name: "badValue")
        /// The value is larger or deeper than the limits allow.
        public static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    public let code: Code
    /// A sentence that says what is wrong; it never contains a value.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ValueFormError: CustomStringConvertible {
    /// The sentence.
    public var description: String { message }
}
