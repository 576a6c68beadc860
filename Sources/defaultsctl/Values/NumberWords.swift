/// Numbers as macOS's `defaults` parses them: a word may begin with a number, and the rest is
/// ignored.
enum NumberWords {
    /// The integers that fit into 64 bits, with or without a sign.
    private static let integers = Int128(Int64.min)...Int128(UInt64.max)

    /// An integer, and whether the whole word is one; nil if it does not fit into 64 bits.
    ///
    /// As on macOS, a real is cut at its point, and a word that does not begin with a digit is 0.
    /// For a number out of range, macOS uses another number, but this returns nil.
    static func integer(_ word: String) -> (value: Int128, isWhole: Bool)? {
        let text = word.drop(while: \.isWhitespace)
        let sign = text.first.map { $0 == "-" || $0 == "+" } == true ? text.prefix(1) : ""
        let digits = text.dropFirst(sign.count).prefix(while: isDigit)
        guard !digits.isEmpty else { return (0, false) }
        let isWhole = isSpace(text.dropFirst(sign.count + digits.count))
        guard let value = Int128(sign + digits), integers ~= value else { return nil }
        return (value, isWhole)
    }

    /// A real number, and whether the whole word is one.
    ///
    /// A word that does not begin with a number is 0.
    static func real(_ word: String) -> (value: Double, isWhole: Bool) {
        if let value = unusualReal(word) { return (value, true) }
        let text = word.drop(while: \.isWhitespace)
        let sign = text.first.map { $0 == "-" || $0 == "+" } == true ? text.prefix(1) : ""
        var rest = text.dropFirst(sign.count)
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction: Substring = ""
        if rest.first == "." {
            fraction = rest.dropFirst().prefix(while: isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return (0, false) }
        let power = exponent(&rest)
        let spelling = "\(sign)\(whole.isEmpty ? "0" : whole).\(fraction.isEmpty ? "0" : fraction)"
        let value = Double(spelling + "e" + power) ?? 0
        return (value, isSpace(rest))
    }

    private static func unusualReal(_ word: String) -> Double? {
        switch word.lowercased() {
        case "nan": .nan
        case "inf", "+inf", "infinity", "+infinity": .infinity
        case "-inf", "-infinity": -.infinity
        default: nil
        }
    }

    /// Reads an exponent at the beginning of the text, if it is complete.
    private static func exponent(_ text: inout Substring) -> String {
        guard text.first == "e" || text.first == "E" else { return "0" }
        let signed = text.dropFirst()
        let sign = signed.first.map { $0 == "-" || $0 == "+" } == true ? signed.prefix(1) : ""
        let digits = signed.dropFirst(sign.count).prefix(while: isDigit)
        guard !digits.isEmpty else { return "0" }
        text = signed.dropFirst(sign.count + digits.count)
        return String(sign + digits)
    }

    /// Whether a word has no digit but zeros before its exponent, so that its value is zero.
    static func isZero(_ word: String) -> Bool {
        !word.prefix { $0 != "e" && $0 != "E" }.contains { isDigit($0) && $0 != "0" }
    }

    private static func isSpace(_ text: Substring) -> Bool { text.allSatisfy(\.isWhitespace) }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isNumber
    }
}
