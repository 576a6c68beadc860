import Glibc

/// Sentences for the user of a program that has nobody else to tell.
enum StandardError {
    /// Writes a sentence as one line, in one piece.
    static func say(_ sentence: String) {
        let words = sentence.split(whereSeparator: \.isNewline).joined(separator: " ")
        let line = "defaults: \(words)\n"
        _ = line.utf8.withContiguousStorageIfAvailable {
            write(STDERR_FILENO, $0.baseAddress, $0.count)
        }
    }
}
