/// A document as expat takes it, and where its parts stand in the text that was given.
struct DocumentText {
    /// What expat reads.
    let bytes: ArraySlice<UInt8>
    /// What stands before it: white space, which XML does not allow before its declaration.
    private let leading: ArraySlice<UInt8>
    private let controls: ControlCharacters?

    init(_ text: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: mark) ? mark.count : 0
        let end = text[start...].firstIndex { !$0.isSpace } ?? start
        // UTF-16 has a byte order mark, which is no space.
        leading = end == start ? [] : text[..<end]
        let document = text[leading.endIndex...]
        controls = ControlCharacters(in: document)
        bytes = controls.map { $0.bytes[...] } ?? document
    }

    /// The text of an element as the document has it.
    func original(_ text: [UInt8]) -> String {
        let string = String(decoding: text, as: UTF8.self)
        return controls?.restored(string) ?? string
    }

    /// The place in the whole text of what expat has at this one.
    func place(line: Int, column: Int, byteOffset: Int) -> XMLPlace {
        let lines = leading.count { $0 == UInt8(ascii: "\n") }
        let lastLine = leading.reversed().prefix { $0 != UInt8(ascii: "\n") }
        // Bytes that continue a character, of a byte order mark, are not counted.
        let columns = line == 1 ? lastLine.count { $0 < 0x80 } : 0
        return XMLPlace(
            line: line + lines, column: column + columns,
            byteOffset: (controls?.offset(byteOffset) ?? byteOffset) + leading.count)
    }
}
