/// Numbers of YAML 1.1: the types int and float of its repository of types, as PyYAML reads them.
enum OldNumber {
    static func isNumber(_ text: String) -> Bool {
        if [".nan", ".NaN", ".NAN"].contains(text) { return true }
        var rest = Substring(text).utf8
        let sign = rest.first.flatMap { "+-".utf8.contains($0) ? $0 : nil }
        if sign != nil { rest.removeFirst() }
        if [".inf", ".Inf", ".INF"].contains(where: { rest.elementsEqual($0.utf8) }) {
            return true
        }
        // A number without digits before its point has no sign.
        if sign != nil, rest.first == UInt8(ascii: ".") { return false }
        if let digits = digits(of: rest, after: "0b") {
            return digits.allSatisfy { isDigit($0, below: 2) }
        }
        if let digits = digits(of: rest, after: "0x") { return digits.allSatisfy(isHexDigit) }
        let groups = rest.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard groups.count > 1 else { return isDecimal(rest) }
        return isSexagesimal(groups)
    }

    /// The digits after a mark, if there are some.
    private static func digits(
        of text: Substring.UTF8View, after mark: String
    ) -> Substring.UTF8View? {
        guard text.starts(with: mark.utf8), text.count > mark.utf8.count else { return nil }
        return text.dropFirst(mark.utf8.count)
    }

    /// Digits, or digits with a point and an exponent that has a sign.
    private static func isDecimal(_ text: Substring.UTF8View) -> Bool {
        let whole = text.prefix { isDigit($0) }
        guard !whole.isEmpty || text.first == UInt8(ascii: ".") else { return false }
        // An underscore can be anywhere but at the beginning.
        guard whole.first != underscore else { return false }
        var rest = text.dropFirst(whole.count)
        if rest.isEmpty { return true }
        guard rest.first == UInt8(ascii: ".") else { return false }
        rest = rest.dropFirst()
        let fraction = rest.prefix { isDigit($0) }
        guard !whole.isEmpty || fraction.first.map({ $0 != underscore }) ?? false else {
            return false
        }
        rest = rest.dropFirst(fraction.count)
        if rest.isEmpty { return true }
        guard let mark = rest.first, [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(mark),
            let sign = rest.dropFirst().first,
            [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign)
        else { return false }
        let exponent = rest.dropFirst(2)
        return !exponent.isEmpty && exponent.allSatisfy { isDigit($0) && $0 != underscore }
    }

    /// Numbers to the base 60, such as `190:20:30` and `1:30.5`.
    private static func isSexagesimal(_ groups: [Substring.UTF8View]) -> Bool {
        guard let first = groups.first, let digit = first.first, digit != underscore,
            first.allSatisfy({ isDigit($0) })
        else { return false }
        // An integer begins with another digit than zero.
        let isReal = groups.last?.contains(UInt8(ascii: ".")) ?? false
        guard isReal || digit != UInt8(ascii: "0") else { return false }
        return groups.dropFirst().enumerated().allSatisfy { position, group in
            let whole = group.prefix { isDigit($0) && $0 != underscore }
            let rest = group.dropFirst(whole.count)
            guard (1...2).contains(whole.count),
                whole.count == 1 || isDigit(group[group.startIndex], below: 6)
            else { return false }
            let isLast = position == groups.count - 2
            return rest.isEmpty
                || isLast && rest.first == UInt8(ascii: ".")
                    && rest.dropFirst().allSatisfy { isDigit($0) }
        }
    }

    private static let underscore = UInt8(ascii: "_")

    private static func isDigit(_ byte: UInt8, below base: UInt8 = 10) -> Bool {
        (UInt8(ascii: "0")..<UInt8(ascii: "0") + base).contains(byte) || byte == underscore
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
