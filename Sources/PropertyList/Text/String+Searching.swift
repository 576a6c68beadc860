/// Searching in strings without the library of regular expressions.
///
/// `contains(_:)` for strings, and `replacing(_:with:)`, are declared in that library. A program that
/// calls either of them contains the whole library, which is 1.3 MB.
extension String {
    /// Whether the text contains another one, compared by characters.
    ///
    /// Every text contains an empty one.
    package func includes(_ other: String) -> Bool {
        other.isEmpty || self[...].position(of: other) != nil
    }

    /// The text with another one in place of each occurrence of a word, which is not empty.
    package func exchanging(_ word: String, for other: String) -> String {
        var rest = self[...]
        var text = ""
        while let start = rest.position(of: word) {
            text += rest[..<start] + other
            rest = rest[start...].dropFirst(word.count)
        }
        return text + rest
    }
}

extension Substring {
    /// Where a word, which is not empty, first occurs.
    fileprivate func position(of word: String) -> Index? {
        var rest = self
        while let start = rest.firstIndex(where: { $0 == word.first }) {
            if rest[start...].starts(with: word) { return start }
            rest = rest[start...].dropFirst()
        }
        return nil
    }
}
