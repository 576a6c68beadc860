/// Moments in ISO 8601, such as `2024-02-29T12:00:01.5Z`, without loss of digits.
///
/// A moment is a number of seconds since 2001-01-01 00:00:00 UTC, as in property lists. The
/// fraction is never computed as a double, which could round it; its decimal digits are copied.
package enum ISODate {
    /// The years that can be written in four digits.
    private static let years = 1...9_999
    /// How many digits the fraction of the smallest double has.
    private static let mostDigits = 324
    /// The length of a date and a time without fraction and zone.
    private static let clockLength = 19
    /// The length of the longest text: a fraction with its point, and an offset with a colon.
    private static let longest = clockLength + 1 + mostDigits + 6

    /// The shortest text in UTC that reads back as the same double.
    ///
    /// - Returns: Nil if the moment cannot be written: a year outside 1 to 9999, negative zero, an
    ///   infinity, or a value that is not a number.
    package static func text(secondsSince2001 seconds: Double) -> String? {
        guard let date = CalendarDate(secondsSince2001: seconds), years.contains(date.year),
            seconds != 0 || seconds.sign == .plus
        else { return nil }
        var digits = fraction(of: seconds.magnitude)
        guard !digits.isEmpty else { return date.description }
        if seconds < 0 { complement(&digits) }
        return "\(date.description.dropLast()).\(String(decoding: digits, as: UTF8.self))Z"
    }

    /// The double that is nearest to a moment.
    ///
    /// - Parameter text: A date of a year from 0001 to 9999, `T`, a time with seconds, up to 324
    ///   digits of a fraction or none, and `Z` or an offset (`+01:00`, `+0100` or `+01`).
    /// - Returns: Nil if the text has another form, or no calendar has the date.
    package static func seconds(of text: String) -> Double? {
        guard text.utf8.count <= longest else { return nil }
        var rest = Array(text.utf8)[...]
        let clock = String(decoding: rest.prefix(clockLength), as: UTF8.self)
        guard let date = CalendarDate(clock + "Z"), years.contains(date.year) else { return nil }
        rest = rest.dropFirst(clockLength)
        guard var digits = takeFraction(from: &rest), let offset = offset(rest) else { return nil }
        var whole = Int(date.secondsSince2001) - offset
        var sign = ""
        if whole < 0 {
            sign = "-"
            whole = -whole
            // For dates before 2001, the digits become those of the rest of the second.
            if complement(&digits) { whole -= 1 }
        }
        return Double("\(sign)\(whole).\(String(decoding: digits, as: UTF8.self))0")
    }
}

// MARK: Fractions

extension ISODate {
    /// The shortest decimal digits of the fraction of a non-negative double; none if it is whole.
    private static func fraction(of magnitude: Double) -> [UInt8] {
        let parts = magnitude.description.split(separator: "e")
        let digits = parts[0].split(separator: ".")
        guard parts.count == 2, let exponent = Int(parts[1]) else {
            return digits[1] == "0" ? [] : Array(digits[1].utf8)
        }
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, -exponent - 1))
        return zeros + digits.joined().utf8
    }

    /// Replaces a fraction by 1 minus the fraction.
    ///
    /// Zero is not changed, and the result is false.
    @discardableResult
    private static func complement(_ digits: inout [UInt8]) -> Bool {
        let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
        guard let last = digits.lastIndex(where: { $0 != zero }) else { return false }
        for position in 0...last { digits[position] = zero + (nine - digits[position]) }
        digits[last] += 1
        return true
    }

    /// Reads the digits after a point or a comma; nil if there are none, or too many.
    private static func takeFraction(from rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") else { return [] }
        rest.removeFirst()
        let digits = rest.prefix(while: isDigit)
        rest.removeFirst(digits.count)
        return (1...mostDigits).contains(digits.count) ? Array(digits) : nil
    }
}

// MARK: Zones

extension ISODate {
    /// How many seconds a zone is ahead of UTC; nil if the text is not a zone.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int? {
        if text.elementsEqual("Z".utf8) { return 0 }
        guard let sign = text.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return nil
        }
        var digits = Array(text.dropFirst())
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 2 || digits.count == 4, digits.allSatisfy(isDigit),
            let hours = Int(String(decoding: digits.prefix(2), as: UTF8.self)), hours < 24,
            let minutes = Int("0" + String(decoding: digits.dropFirst(2), as: UTF8.self)),
            minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
