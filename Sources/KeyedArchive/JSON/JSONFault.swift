/// What the JSON parser found wrong, at an offset that becomes line and column.
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
            message: isComment ? "A comment stands here, and JSON has none." : message, cause: cause
        )
    }

    /// Whether a comment begins here as other languages have it, which many a reader of JSON takes.
    private static func isComment(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8)
    }

    /// The line and the column of a byte.
    static func place(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Bytes that continue a character are not counted.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 }
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, column + 1)
    }
}
