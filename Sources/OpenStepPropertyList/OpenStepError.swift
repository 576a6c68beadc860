/// Why a text is not a property list in the old style, and at which place.
package struct OpenStepError: Error, Hashable {
    /// The kind of the error, for programs.
    package struct Code: Hashable, Sendable {
        /// The code's name, for messages and tests.
        package let name: String

        /// A character is not allowed at its place.
        package static let syntax = Code(name: "syntax")
        /// Data, a number or a date has a wrong spelling.
        package static let badValue = Code(name: "badValue")
        /// The property list is larger or deeper than the limits allow.
        package static let limitExceeded = Code(name: "limitExceeded")
    }

    /// The kind of the error.
    package let code: Code
    /// The line, counted from 1.
    package let line: Int
    /// The column in that line, counted from 1 in characters of Unicode (code points).
    package let column: Int
    /// A sentence that says what is wrong; it never contains a value.
    package let message: String
}

extension OpenStepError: CustomStringConvertible {
    /// The message and the place.
    package var description: String { "\(message) (line \(line), column \(column))" }
}

/// An error of the parser, at an offset that is converted to line and column.
struct OpenStepFault: Error {
    let code: OpenStepError.Code
    let offset: Int
    let message: String

    init(_ code: OpenStepError.Code, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// The error with the place in `text`.
    func error(in text: [UInt8]) -> OpenStepError {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Continuation bytes of a character are not counted.
        let column = before[lineStart...].count { $0 & 0xC0 != 0x80 }
        return OpenStepError(
            code: code, line: before.count { $0 == UInt8(ascii: "\n") } + 1, column: column + 1,
            message: message)
    }
}

/// The messages of these errors.
extension OpenStepFault {
    static func empty(at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "The text ends where a value is expected.")
    }

    static func noValue(at offset: Int) -> OpenStepFault {
        OpenStepFault(
            .syntax, at: offset,
            "A value is expected here: a string, (an array), {a dictionary} or <data>.")
    }

    static func junk(at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "There is more text after the end of the value.")
    }

    static func expected(_ what: String, at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "\(what) is expected here.")
    }

    static func openString(at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "The string that begins here has no end.")
    }

    static func openComment(at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "The comment that begins here has no end.")
    }

    static func notUTF8(at offset: Int) -> OpenStepFault {
        OpenStepFault(.syntax, at: offset, "The text is not UTF-8.")
    }

    static func badData(at offset: Int) -> OpenStepFault {
        OpenStepFault(
            .badValue, at: offset,
            "Data is pairs of hexadecimal digits between < and >, such as <0fbe>.")
    }

    static func badTyped(at offset: Int) -> OpenStepFault {
        OpenStepFault(
            .badValue, at: offset,
            "A typed value is <*I5>, <*R1.5>, <*BY>, <*BN> or <*D2001-01-01 00:00:00 +0000>.")
    }

    static func tooLarge(byteCount: Int, limit: Int) -> OpenStepFault {
        OpenStepFault(
            .limitExceeded, at: 0,
            "The property list has \(byteCount) bytes; the limit is \(limit).")
    }

    static func tooManyObjects(limit: Int, at offset: Int) -> OpenStepFault {
        OpenStepFault(
            .limitExceeded, at: offset,
            "The property list has more than \(limit) objects, which is the limit.")
    }

    static func tooDeep(limit: Int, at offset: Int) -> OpenStepFault {
        OpenStepFault(
            .limitExceeded, at: offset, "The collections are nested deeper than \(limit) levels.")
    }
}
