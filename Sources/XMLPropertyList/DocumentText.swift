/// A document as expat reads it, and the places of its parts in the original text.
struct DocumentText {
    /// The text for expat.
    let bytes: ArraySlice<UInt8>
    /// White space before the document, which XML does not allow before its declaration.
    private let leading: ArraySlice<UInt8>
    private let controls: ControlCharacters?

    init(_ text: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: mark) ? mark.count : 0
        let end = text[start...].firstIndex { !$0.isSpace } ?? start
        // UTF-16 has a byte order mark, which is not a space.
        leading = end == start ? [] : text[..<end]
        let document = text[leading.endIndex...]
        controls = ControlCharacters(in: document)
        bytes = controls.map { $0.bytes[...] } ?? document
    }

    /// The text of an element as it is in the document.
    func original(_ text: [UInt8]) -> String {
        let string = String(decoding: text, as: UTF8.self)
        return controls?.restored(string) ?? string
    }

    /// The place in the original text for a place that expat reports.
    func place(line: Int, column: Int, byteOffset: Int) -> XMLPlace {
        let lines = leading.count { $0 == UInt8(ascii: "\n") }
        let lastLine = leading.reversed().prefix { $0 != UInt8(ascii: "\n") }
        // Continuation bytes of a byte order mark are not counted.
        let columns = line == 1 ? lastLine.count { $0 < 0x80 } : 0
        return XMLPlace(
            line: line + lines, column: column + columns,
            byteOffset: (controls?.offset(byteOffset) ?? byteOffset) + leading.count)
    }
}

/// Unescaped control characters in a document.
///
/// XML does not allow them, but macOS writes them.
///
/// expat gets characters of the private use area instead, which the document does not use.
private struct ControlCharacters {
    /// The document with these replacements.
    let bytes: [UInt8]
    /// The character that replaces NUL.
    ///
    /// The others follow it.
    private let base: UInt32
    /// The offsets of the replacements.
    ///
    /// Each is two bytes longer.
    private let offsets: [Int]

    private static let blocks: ClosedRange<UInt32> = 0xE000 / 32...0xF8FF / 32

    /// - Returns: nil if there are none, or if the document is not in UTF-8.
    init?(in text: ArraySlice<UInt8>) {
        guard text.contains(where: Self.isControl), Self.isUTF8(text) else { return nil }
        let used = Self.usedBlocks(of: text)
        guard let block = Self.blocks.first(where: { !used.contains($0) }) else { return nil }
        base = block * 32
        var bytes: [UInt8] = []
        var offsets: [Int] = []
        for byte in text {
            if Self.isControl(byte) {
                offsets.append(bytes.count)
                let scalar = Unicode.Scalar(block * 32 + UInt32(byte)) ?? "\u{FFFD}"
                bytes += UTF8.bytes(of: scalar)
            } else {
                bytes.append(byte)
            }
        }
        (self.bytes, self.offsets) = (bytes, offsets)
    }

    /// Restores the control characters in the text of an element.
    func restored(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = (base..<base + 32).contains(scalar.value)
            scalars.append(
                isControl ? Unicode.Scalar(UInt8(scalar.value - base)) : scalar)
        }
        return String(scalars)
    }

    /// The offset in the document for an offset in ``bytes``.
    func offset(_ offset: Int) -> Int {
        var (low, high) = (0, offsets.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return offset - 2 * low
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && !byte.isSpace }

    private static func isUTF8(_ text: ArraySlice<UInt8>) -> Bool {
        let start = text.prefix(2)
        guard !start.contains(0), !start.contains(0xFE), !start.contains(0xFF) else { return false }
        guard text.starts(with: "<?xml".utf8) else { return true }
        let declaration = String(decoding: text.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
            .lowercased()
        // contains(_:) of a string would link the library of regular expressions, which is 1.3 MB.
        func has(_ word: String) -> Bool {
            declaration.indices.contains { declaration[$0...].hasPrefix(word) }
        }
        return !has("encoding") || has("utf-8") || has("us-ascii")
    }

    /// The parts of the private use area, of 32 characters each, that the document uses, directly
    /// or as references.
    private static func usedBlocks(of text: ArraySlice<UInt8>) -> Set<UInt32> {
        var blocks: Set<UInt32> = []
        for (offset, byte) in zip(text.indices, text) {
            let rest = text[offset...]
            if byte == 0xEE || byte == 0xEF {
                let bits = rest.prefix(3).reduce(0) { $0 << 6 | UInt32($1 & 0x3F) }
                blocks.insert((bits & 0xFFFF) / 32)
            } else if byte == UInt8(ascii: "&"), rest.dropFirst().first == UInt8(ascii: "#") {
                let digits = String(
                    decoding: rest.dropFirst(2).prefix { $0 != UInt8(ascii: ";") }.prefix(64),
                    as: UTF8.self)
                let number =
                    digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
                if let number { blocks.insert(number / 32) }
            }
        }
        return blocks
    }
}

extension UTF8 {
    /// The bytes of a scalar.
    fileprivate static func bytes(of scalar: Unicode.Scalar) -> [UInt8] {
        Array(String(scalar).utf8)
    }
}
