/// Finds the parts of a document in an encoding that contains ASCII, without checking it.
struct MarkupScanner {
    /// A piece of text inside the outermost element.
    struct CharacterData {
        let range: Range<Int>
        /// Whether it is in a section in which `&` begins no reference.
        let isSection: Bool
    }

    private let text: ArraySlice<UInt8>
    private(set) var position: Int
    /// How many elements are open.
    private var depth = 0

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        position = text.startIndex
    }

    private func isAt(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { text[position...].starts(with: $0) }
    }

    /// Goes on behind the next place of a word, or to the end.
    private mutating func skip(past word: StaticString) {
        while position < text.endIndex {
            guard !isAt(word) else { return position += word.utf8CodeUnitCount }
            position += 1
        }
    }
}

/// What may come before the first element.
extension MarkupScanner {
    /// Whether the declaration of XML begins here.
    var isAtDeclaration: Bool {
        isAt("<?xml") && text.dropFirst(position - text.startIndex + 5).first?.isSpace == true
    }

    mutating func skipSpace() {
        position = text[position...].firstIndex { !$0.isSpace } ?? text.endIndex
    }

    /// Skips a comment or an instruction.
    ///
    /// - Returns: Whether there was one here.
    mutating func skipRemark() -> Bool {
        if isAt("<!--") {
            position += 4
            skip(past: "-->")
        } else if isAt("<?") {
            skip(past: "?>")
        } else {
            return false
        }
        return true
    }
}

extension MarkupScanner {
    /// The next text inside the outermost element, even if it is only space between elements.
    mutating func nextCharacterData() -> CharacterData? {
        while position < text.endIndex {
            if text[position] != UInt8(ascii: "<") {
                let start = position
                position = text[start...].firstIndex(of: UInt8(ascii: "<")) ?? text.endIndex
                if depth > 0 { return CharacterData(range: start..<position, isSection: false) }
            } else if isAt("<![CDATA[") {
                position += 9
                let start = position
                skip(past: "]]>")
                let end = max(start, isAtEnd(of: "]]>") ? position - 3 : position)
                return CharacterData(range: start..<end, isSection: true)
            } else if !skipRemark() {
                skipTag()
            }
        }
        return nil
    }

    private func isAtEnd(of word: StaticString) -> Bool {
        word.withUTF8Buffer { text[..<position].suffix($0.count).elementsEqual($0) }
    }

    /// Skips a tag, or the declaration of a document's type with what is in its brackets.
    private mutating func skipTag() {
        let isType = isAt("<!")
        let isEnd = isAt("</")
        var brackets = 0
        var quote: UInt8?
        position += 1
        while position < text.endIndex {
            let byte = text[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if isType, isAt("<!--") || isAt("<?") {
                // An apostrophe in a comment is not a quote.
                _ = skipRemark()
                continue
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if isType, byte == UInt8(ascii: "[") {
                brackets += 1
            } else if isType, byte == UInt8(ascii: "]") {
                brackets -= 1
            } else if byte == UInt8(ascii: ">"), brackets <= 0 {
                break
            }
            position += 1
        }
        let isEmpty = text[..<position].last == UInt8(ascii: "/")
        position = min(position + 1, text.endIndex)
        guard !isType, !isEmpty else { return }
        depth += isEnd ? -1 : 1
    }
}
