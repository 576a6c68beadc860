internal import PropertyList

/// Why a value cannot be made into an archive.
public struct ValueFormError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// A key begins with `$` and has no meaning there.
        public static let unknownKey = Code(name: "unknownKey")
        /// A dictionary has the same key twice.
        public static let duplicateKey = Code(name: "duplicateKey")
        /// A spelling that is only for output.
        public static let outputOnly = Code(name: "outputOnly")
        /// A wrong value for a `$` key.
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
    /// The message.
    public var description: String { message }
}

/// The messages of these errors.
extension ValueFormError {
    // A key is part of the value, so the message does not repeat it.
    static let unknownKey = ValueFormError(
        .unknownKey,
        "A key begins with $ and is not $class, $value, $data, $bytes, $date, $real or $top. "
            + "Write a dictionary with such a key as NSDictionary with NS.keys and "
            + "NS.objects, and the field $x of an object as $$x.")

    static let misplacedKey = ValueFormError(
        .unknownKey, "A key that begins with $ has no meaning next to the other keys.")

    static let duplicateKey = ValueFormError(
        .duplicateKey, "The dictionary has the same key twice.")

    static let reference = ValueFormError(
        .outputOnly, "$ref only shows an object inside itself; an archive cannot be made from it.")

    static let classRecord = ValueFormError(
        .outputOnly, "$classdef only shows a class as a value; an archive cannot be made from it.")

    static func badValue(_ key: StaticString, needs need: String) -> ValueFormError {
        ValueFormError(.badValue, "The value of \(key) must be \(need).")
    }

    static let inlineBytesInCollection = ValueFormError(
        .badValue, "$bytes can only be a field of an object; elsewhere write $data.")

    static let topNotAtRoot = ValueFormError(
        .badValue, "$top can only be the whole value, not a part of one.")

    static let unevenPairs = ValueFormError(
        .badValue, "NS.keys and NS.objects of a dictionary must have the same number of elements.")

    static func tooLarge(limit: Int) -> ValueFormError {
        ValueFormError(.limitExceeded, "The value is larger than \(limit) bytes.")
    }

    static func tooMany(limit: Int) -> ValueFormError {
        ValueFormError(.limitExceeded, "The value is made of more than \(limit) values.")
    }

    static func tooDeep(limit: Int) -> ValueFormError {
        ValueFormError(.limitExceeded, "The value is nested deeper than \(limit) levels.")
    }
}
