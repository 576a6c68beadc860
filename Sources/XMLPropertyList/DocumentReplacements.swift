/// A document without what expat refuses or replaces, though macOS writes and keeps it.
///
/// 1. XML does not allow control characters that are not escaped. In their place expat gets characters of the
///    private use area that the document does not use, and ``restored(_:)`` turns them back.
/// 2. expat replaces the ends of lines, as XML demands. CoreFoundation keeps them. So expat gets a reference
///    in the place of a carriage return in text.
struct DocumentReplacements {
    /// The document with the replacements.
    private(set) var bytes: [UInt8] = []
    /// The character that replaces NUL, which the others follow; nil if the document has none.
    private let base: UInt32?
    /// The offsets of the replacements in ``bytes``, and by how many bytes all up to there are longer.
    private var offsets: [(offset: Int, growth: Int)] = []

    private static let blocks: ClosedRange<UInt32> = 0xE000 / 32...0xF8FF / 32

    /// - Returns: nil if there is nothing to replace, or if the encoding does not allow it.
    init?(in text: ArraySlice<UInt8>) {
        let hasReturn = text.contains(.carriageReturn)
        let hasControl = text.contains(where: Self.isControl) && Self.isUTF8(text)
        // UTF-16 has zeros.
        guard hasReturn || hasControl, !Self.isUTF16(text) else { return nil }
        let used = hasControl ? Self.usedBlocks(of: text) : []
        base = hasControl ? Self.blocks.first { !used.contains($0) }.map { $0 * 32 } : nil
        var scanner = MarkupScanner(text)
        var data = hasReturn ? scanner.nextCharacterData() : nil
        for (index, byte) in zip(text.indices, text) {
            if let base, Self.isControl(byte) {
                replace(by: UTF8.bytes(of: Unicode.Scalar(base + UInt32(byte)) ?? "\u{FFFD}"))
                continue
            }
            while let end = data?.range.upperBound, end <= index {
                data = scanner.nextCharacterData()
            }
            if byte == .carriageReturn, let data, data.range.contains(index) {
                replace(by: Array((data.isSection ? "]]>&#13;<![CDATA[" : "&#13;").utf8))
            } else {
                bytes.append(byte)
            }
        }
    }

    private mutating func replace(by replacement: [UInt8]) {
        offsets.append((bytes.count, (offsets.last?.growth ?? 0) + replacement.count - 1))
        bytes += replacement
    }

    /// The text of an element with its control characters.
    func restored(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        guard let base else { return Array(text) }
        var restored: [UInt8] = []
        var rest = text[...]
        while let byte = rest.first {
            let size = byte == 0xEE || byte == 0xEF ? 3 : 1
            let scalar = rest.prefix(3).reduce(0) { $0 << 6 | UInt32($1 & 0x3F) } & 0xFFFF
            if size == 3, (base..<base + 32).contains(scalar) {
                restored.append(UInt8(scalar - base))
            } else {
                restored += rest.prefix(size)
            }
            rest = rest.dropFirst(size)
        }
        return restored
    }

    /// The offset in the document for an offset in ``bytes``.
    func offset(_ offset: Int) -> Int {
        var (low, high) = (0, offsets.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return offset - (low == 0 ? 0 : offsets[low - 1].growth)
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && !byte.isSpace }

    private static func isUTF16(_ text: ArraySlice<UInt8>) -> Bool {
        let start = text.prefix(2)
        return start.contains(0) || start.contains(0xFE) || start.contains(0xFF)
    }

    private static func isUTF8(_ text: ArraySlice<UInt8>) -> Bool {
        guard !isUTF16(text) else { return false }
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
