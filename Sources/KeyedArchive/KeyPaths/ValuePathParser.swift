internal import PropertyList

/// Reads the spelling of a path.
struct ValuePathParser {
    private let text: [UInt8]
    private var scanner: JSONScanner

    init(_ spelling: String) {
        text = Array(spelling.utf8)
        scanner = JSONScanner(text)
    }

    mutating func parse() throws(ValuePathError) -> [ValuePath.Step] {
        var steps: [ValuePath.Step] = []
        while !scanner.isAtEnd { steps.append(try step(isFirst: steps.isEmpty)) }
        return steps
    }

    private mutating func step(isFirst: Bool) throws(ValuePathError) -> ValuePath.Step {
        if scanner.skip(UInt8(ascii: "[")) { return try bracket() }
        if !isFirst {
            guard scanner.skip(UInt8(ascii: ".")) else {
                throw fault("A point or an opening bracket is expected here")
            }
        }
        return .name(try scanner.next == UInt8(ascii: "\"") ? quotedName() : plainName())
    }

    /// What stands between brackets, and the closing one.
    private mutating func bracket() throws(ValuePathError) -> ValuePath.Step {
        let step: ValuePath.Step =
            try scanner.next == UInt8(ascii: "\"") ? .name(quotedName()) : .index(index())
        guard scanner.skip(UInt8(ascii: "]")) else {
            throw fault("A closing bracket is expected here")
        }
        return step
    }

    private mutating func index() throws(ValuePathError) -> Int {
        let start = scanner.offset
        let isNegative = scanner.skip(UInt8(ascii: "-"))
        let digits = take { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let first = digits.utf8.first else {
            throw fault("A number, or a name in quotes, is expected in brackets")
        }
        let hasZero = first == UInt8(ascii: "0")
        guard !hasZero || (digits.utf8.count == 1 && !isNegative) else {
            throw fault("A number does not begin with a zero, nor is there a -0", at: start)
        }
        guard let index = Int(isNegative ? "-" + digits : digits) else {
            throw fault("No array has so many elements", at: start)
        }
        return index
    }

    private mutating func quotedName() throws(ValuePathError) -> Text {
        do throws(JSONFault) {
            return try scanner.string()
        } catch {
            // The sentence of a path's error ends with its own point.
            let words = error.message.split(separator: ".").joined(separator: ".")
            throw fault(words, at: error.offset)
        }
    }

    private mutating func plainName() throws(ValuePathError) -> Text {
        let start = scanner.offset
        let special: [UInt8] = Array(".[]\"".utf8)
        let name = take { !special.contains($0) }
        guard !name.isEmpty else {
            throw fault("A name is expected here; an empty one is written as \"\"")
        }
        if let position = name.unicodeScalars.firstIndex(where: \.isControl) {
            let before = name.unicodeScalars.prefix(upTo: position)
            throw fault(
                "A name with a control character stands in quotes, that as an escape",
                at: start + String(before).utf8.count)
        }
        return Text(name)
    }

    /// Takes the bytes that come next as long as they are wanted.
    private mutating func take(while isWanted: (UInt8) -> Bool) -> String {
        let start = scanner.offset
        while let byte = scanner.next, isWanted(byte), scanner.skip(byte) {}
        return String(decoding: text[start..<scanner.offset], as: UTF8.self)
    }

    private func fault(_ message: String, at offset: Int? = nil) -> ValuePathError {
        let before = text.prefix(offset ?? scanner.offset)
        // Bytes that continue a character are not counted.
        return .misspelled(message, column: before.count { $0 & 0xC0 != 0x80 } + 1)
    }
}
