/// A real number as NSNumber describes it: the shortest digits that read back the same, laid out as
/// `%.17g` lays them out.
struct DescribedReal {
    private let value: Double

    init(_ value: Double) {
        self.value = value
    }

    var text: String {
        guard value.isFinite else { return value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" }
        guard value != 0 else { return value.sign == .minus ? "-0" : "0" }
        let (digits, exponent) = significand
        let sign = value < 0 ? "-" : ""
        guard (-4..<17).contains(exponent) else {
            let rest = digits.dropFirst()
            let magnitude = String(abs(exponent))
            return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e"
                + (exponent < 0 ? "-" : "+") + (magnitude.utf8.count < 2 ? "0" : "") + magnitude
        }
        if exponent < 0 { return sign + "0." + zeros(-exponent - 1) + digits }
        let whole = digits.prefix(exponent + 1)
        let fraction = digits.dropFirst(exponent + 1)
        return sign + whole + zeros(exponent + 1 - whole.utf8.count)
            + (fraction.isEmpty ? "" : "." + fraction)
    }

    private func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

    /// The significant digits, of which the first is not zero, and the power of ten of the first.
    private var significand: (digits: String, exponent: Int) {
        let parts = value.magnitude.description.split(separator: "e")
        let number = parts[0].split(separator: ".")
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let whole = number[0]
        let all = (whole + (number.count > 1 ? number[1] : "")).utf8.map { $0 }
        let leading = all.prefix { $0 == UInt8(ascii: "0") }.count
        let trailing = all.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        let digits = String(decoding: all.dropFirst(leading).dropLast(trailing), as: UTF8.self)
        return (digits, exponent + whole.utf8.count - 1 - leading)
    }
}
