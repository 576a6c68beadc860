import KeyedArchive

// Text that begins with no number is 0 for UserDefaults. Here the key's default is better: 0 would
// look like a choice of the user.

extension ValueCoding where Value == Bool {
    /// The coding of a boolean that also reads numbers and text, by the rules of UserDefaults.
    ///
    /// Use it for values that scripts or earlier programs have stored as text. A number is true unless
    /// it is 0. Text is true if it begins with `Y`, `T` or a digit other than 0, in upper or lower case,
    /// and false if it begins with `N`, `F` or 0. White space before it is skipped. Any other text is not
    /// a boolean, so the key's default is read. New values are stored as booleans.
    public static func converting() -> ValueCoding {
        .reading { value in
            switch value {
            case .bool(let value): value
            case .int(let number): number != 0
            case .double(let number): number != 0
            case .string(let text): text.leadingBoolean
            default: nil
            }
        }
    }
}

extension ValueCoding where Value == Int {
    /// The coding of an integer that also reads other numbers, booleans and text, by the rules of
    /// UserDefaults.
    ///
    /// ```swift
    /// static let count = DefaultsKey("Count", coding: .converting(), default: 0)
    /// ```
    ///
    /// Use it for values that scripts or earlier programs have stored as text. A real loses its fraction,
    /// and a boolean is 1 or 0. Text counts if it begins with an integer, after white space: `"12"` and
    /// `"12 px"` are 12. Any other text is not an integer, so the key's default is read. New values are
    /// stored as integers.
    public static func converting() -> ValueCoding {
        .reading { value in
            switch value {
            case .bool(let value): value ? 1 : 0
            case .int(let number): number
            case .double(let number): Int(exactly: number.rounded(.towardZero))
            case .string(let text): Int(text.leadingNumber(hasFraction: false))
            default: nil
            }
        }
    }
}

extension ValueCoding where Value == Double {
    /// The coding of a real that also reads integers, booleans and text, by the rules of UserDefaults.
    ///
    /// Use it for values that scripts or earlier programs have stored as text. A boolean is 1 or 0. Text
    /// counts if it begins with a number, after white space: `"0.5"` and `"0.5 s"` are 0.5. Any other
    /// text is not a number, so the key's default is read. New values are stored as reals.
    public static func converting() -> ValueCoding {
        .reading { value in
            switch value {
            case .bool(let value): value ? 1 : 0
            case .int(let number): Double(number)
            case .double(let number): number
            case .string(let text): Double(text.leadingNumber(hasFraction: true))
            default: nil
            }
        }
    }
}

extension ValueCoding where Value == String {
    /// The coding of text that also reads numbers and booleans, by the rules of UserDefaults.
    ///
    /// A boolean is `1` or `0`, and a number is in decimal digits, such as `12` or `0.5`. New values are
    /// stored as text.
    public static func converting() -> ValueCoding {
        .reading { value in
            switch value {
            case .bool(let value): value ? "1" : "0"
            case .int(let number): "\(number)"
            case .double(let number): "\(number)"
            case .string(let text): text
            default: nil
            }
        }
    }
}

extension ValueCoding where Value: Codable & Sendable {
    /// The coding of a type that other simple values convert to.
    ///
    /// - Parameter convert: Converts a value; nil if it is none of the type.
    fileprivate static func reading(
        _ convert: @escaping @Sendable (DefaultsValue) -> Value?
    ) -> ValueCoding {
        let (plain, any) = (ValueCoding.codable(), ValueCoding<DefaultsValue>.codable())
        return ValueCoding(
            isShared: true, encode: plain.encode,
            fill: { archive, _ in
                if let stored = try? any.decode(archive), let value = convert(stored) {
                    return value
                }
                return try plain.decode(archive)
            })
    }
}

extension String {
    fileprivate var leadingBoolean: Bool? {
        switch drop(while: \.isWhitespace).first {
        case "Y", "y", "T", "t", "1", "2", "3", "4", "5", "6", "7", "8", "9": true
        case "N", "n", "F", "f", "0": false
        default: nil
        }
    }

    /// The longest text at the beginning that may be a number, after white space.
    fileprivate func leadingNumber(hasFraction: Bool) -> Substring {
        var rest = drop(while: \.isWhitespace)
        let start = rest.startIndex
        func skipDigits() { rest = rest.drop { $0.isASCII && $0.isNumber } }
        func skip(_ characters: Set<Character>) {
            if let next = rest.first, characters.contains(next) { rest.removeFirst() }
        }
        skip(["+", "-"])
        skipDigits()
        if hasFraction {
            skip(["."])
            skipDigits()
            let mantissa = rest.startIndex
            skip(["e", "E"])
            skip(["+", "-"])
            let exponent = rest.startIndex
            skipDigits()
            if rest.startIndex == exponent { rest = self[mantissa...] }
        }
        return self[start..<rest.startIndex]
    }
}
