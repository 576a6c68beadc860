import KeyedArchive
import PropertyList

/// What every error says: where, within the input, and why.
enum Refusals {
    static func check(_ error: PropertyListError, of bytes: [UInt8]) throws(Violation) {
        try check(error.message, at: error.byteOffset, of: bytes)
    }

    static func check(_ error: ArchiveError, of bytes: [UInt8]) throws(Violation) {
        try check(error.message, at: error.byteOffset, of: bytes)
        try require(
            (error.code == .notPropertyList) == (error.cause != nil),
            "The error \(error) and its cause do not fit each other.")
    }

    static func check(_ error: JSONError, of text: [UInt8]) throws(Violation) {
        try require(isSentence(error.message), "The message of \(error) is no sentence.")
        try require(
            (error.code == .badValue) == (error.cause != nil),
            "The error \(error) and its cause do not fit each other.")
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try require((1...lines.count).contains(error.line), "\(error): there is no such line.")
        // The place behind the last character counts too: something may be missing there.
        let characters = lines[error.line - 1].count { $0 & 0xC0 != 0x80 }
        try require(
            (1...characters + 1).contains(error.column), "\(error): there is no such column.")
    }

    private static func isSentence(_ message: String) -> Bool {
        message.utf8.last == UInt8(ascii: ".")
    }

    private static func check(
        _ message: String, at offset: Int, of bytes: [UInt8]
    ) throws(Violation) {
        try require(isSentence(message), "The message \"\(message)\" is no sentence.")
        try require(
            (0...bytes.count).contains(offset),
            "\"\(message)\" is said of byte \(offset); there are \(bytes.count).")
    }
}
