/// The mark at the beginning of a text that says how the text is encoded.
///
/// Editors and other systems write it. See [the Unicode standard, 23.8][1].
///
/// [1]: https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-23/
package enum ByteOrderMark {
    /// A text in UTF-8 without its mark.
    ///
    /// - Parameter text: In UTF-8, or in UTF-16 with a mark.
    /// - Returns: The same bytes if there is no mark, or if what follows it is not what it says.
    package static func removed(from text: [UInt8]) -> [UInt8] {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(text.dropFirst(3)) }
        let isLittle = text.starts(with: [0xFF, 0xFE])
        guard isLittle || text.starts(with: [0xFE, 0xFF]), text.count.isMultiple(of: 2) else {
            return text
        }
        let units = stride(from: 2, to: text.count, by: 2).map { index in
            let (first, second) = (UInt16(text[index]), UInt16(text[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) } ?? text
    }
}
