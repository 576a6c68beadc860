internal import PropertyList

/// A document as expat reads it, and the places of its parts in the original text.
struct DocumentText {
    /// The text for expat.
    let bytes: ArraySlice<UInt8>
    /// Whether ``bytes`` is in UTF-8, though the document may declare another encoding.
    let isConverted: Bool
    /// What is left out at the beginning.
    private let leading: Leading
    private let replacements: DocumentReplacements?

    init(_ text: [UInt8]) {
        let converted = Self.converted(text)
        isConverted = converted != nil
        let text = converted ?? text
        leading = Leading(of: text)
        let document = text[leading.count...]
        replacements = DocumentReplacements(in: document)
        bytes = replacements.map { $0.bytes[...] } ?? document
    }

    /// A document in UTF-16 as UTF-8 if it has a carriage return, which expat would replace; otherwise nil.
    ///
    /// Places in it have the right line and column.
    private static func converted(_ text: [UInt8]) -> [UInt8]? {
        guard text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) else { return nil }
        let converted = ByteOrderMark.removed(from: text)
        return converted != text && converted.contains(.carriageReturn) ? converted : nil
    }

    /// The text of an element as it is in the document.
    func original(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        replacements?.restored(bytes) ?? Array(bytes)
    }

    /// The place in the original text for a place that expat reports.
    func place(line: Int, column: Int, byteOffset: Int) -> XMLPlace {
        XMLPlace(
            line: line + leading.lines, column: column + (line == 1 ? leading.columns : 0),
            byteOffset: (replacements?.offset(byteOffset) ?? byteOffset) + leading.count)
    }
}

/// What a document has before the declaration of XML, though it must be first: white space, comments and
/// instructions.
///
/// CoreFoundation reads such documents, and expat does not.
private struct Leading {
    let count: Int
    let lines: Int
    /// The columns of its last line.
    let columns: Int

    init(of text: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: mark) ? mark.count : 0
        var scanner = MarkupScanner(text[start...])
        scanner.skipSpace()
        var end = scanner.position
        while !scanner.isAtDeclaration, scanner.skipRemark() { scanner.skipSpace() }
        if scanner.isAtDeclaration { end = scanner.position }
        // A mark alone is left to expat. That of UTF-16 is not a space.
        let skipped = text[..<(end == start ? 0 : end)]
        count = skipped.count
        lines = skipped.count { $0 == UInt8(ascii: "\n") }
        let lastLine = skipped.reversed().prefix { $0 != UInt8(ascii: "\n") }
        // Continuation bytes are not columns.
        columns = lastLine.count { $0 & 0xC0 != 0x80 && $0 != mark[0] }
    }
}
