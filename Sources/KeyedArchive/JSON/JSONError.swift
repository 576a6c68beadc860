/// Why an archive cannot be made from a text in JSON, and where the fault is.
public struct JSONError: Error, Hashable {
    /// The kind of the error, for programs.
    public struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        public let name: String

        /// The text is not JSON.
        public static let syntax = Code(name: "syntax")
        /// A number is valid JSON, but out of range for archives.
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
    /// Why the value cannot be an archive, if that is the error.
    public let cause: ValueFormError?
}

extension JSONError: CustomStringConvertible {
    /// The message and the place.
    public var description: String { "\(message) (line \(line), column \(column))" }
}

/// An error of the JSON parser, at an offset that is converted to line and column.
package struct JSONFault: Error {
    let code: JSONError.Code
    package let offset: Int
    package let message: String
    var cause: ValueFormError?

    init(_ code: JSONError.Code, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    init(_ cause: ValueFormError, at offset: Int) {
        code = .badValue
        self.offset = offset
        message = cause.message
        self.cause = cause
    }

    /// The error with the place in `text`.
    func error(in text: [UInt8]) -> JSONError {
        let place = Self.place(of: offset, in: text)
        let isComment = code == .syntax && Self.isComment(text.dropFirst(offset))
        return JSONError(
            code: code, line: place.line, column: place.column,
            message: isComment ? "This is a comment, which JSON does not allow." : message,
            cause: cause
        )
    }

    /// Whether a comment begins here.
    ///
    /// Other languages and some readers of JSON allow comments.
    private static func isComment(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8)
    }

    /// The line and the column of a byte.
    static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Continuation bytes of a character are not counted.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 }
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, column + 1)
    }
}
