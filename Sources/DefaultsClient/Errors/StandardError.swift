import Glibc

/// Sentences for the user of a program that has nobody else to tell.
enum StandardError {
    /// Writes a sentence as one line, in one piece.
    static func say(_ sentence: String) {
        let line = "defaults: \(sentence.replacing("\n", with: " "))\n"
        _ = line.utf8.withContiguousStorageIfAvailable {
            write(STDERR_FILENO, $0.baseAddress, $0.count)
        }
    }
}
