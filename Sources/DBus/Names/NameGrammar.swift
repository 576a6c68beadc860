/// The rule that a kind of name follows.
///
/// All kinds are elements of `[A-Za-z0-9_]` with a separator between them; they differ in what
/// stands before them, in how many there are, and in what an element may hold and begin with.
struct NameGrammar: Sendable {
    /// What an error calls it.
    let kind: String
    var prefix = ""
    var separator = UInt8(ascii: ".")
    var elements = 2...Int.max
    var allowsHyphen = false
    var allowsLeadingDigit = false
    var maximumLength = 255

    static let bus = NameGrammar(kind: "a bus name", allowsHyphen: true)
    static let uniqueBus = NameGrammar(
        kind: "a bus name", prefix: ":", allowsHyphen: true, allowsLeadingDigit: true)
    static let interface = NameGrammar(kind: "an interface name")
    static let error = NameGrammar(kind: "an error name")
    static let member = NameGrammar(kind: "a member name", elements: 1...1)
    // The specification sets no limit to a path.
    static let path = NameGrammar(
        kind: "an object path", prefix: "/", separator: UInt8(ascii: "/"), elements: 1...Int.max,
        allowsLeadingDigit: true, maximumLength: .max)

    /// Gives the string back where it follows the rule.
    func check(_ string: some StringProtocol) throws(DBusError) -> String {
        if let problem = problem(in: string.utf8) {
            throw .badName(String(string), kind: kind, because: problem)
        }
        return String(string)
    }

    private func problem(in name: some Collection<UInt8>) -> String? {
        guard name.starts(with: prefix.utf8) else { return "it does not begin with '\(prefix)'" }
        guard name.count <= maximumLength else { return "it is longer than \(maximumLength) bytes" }
        return problem(inElements: name.dropFirst(prefix.utf8.count))
    }

    private func problem(inElements name: some Collection<UInt8>) -> String? {
        let parts = name.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count >= elements.lowerBound else { return "it has no '.'" }
        guard parts.count <= elements.upperBound else { return "it has a '.'" }
        for part in parts {
            if let problem = problem(inElement: part) { return problem }
        }
        return nil
    }

    private func problem(inElement element: some Collection<UInt8>) -> String? {
        guard let first = element.first else { return "an element of it is empty" }
        if Self.isDigit(first) && !allowsLeadingDigit {
            return "an element of it begins with a digit"
        }
        guard element.allSatisfy(allows) else {
            return
                "it holds a character other than A-Z, a-z, 0-9\(allowsHyphen ? ", - " : " ")and _"
        }
        return nil
    }

    private func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "_"):
            true
        case UInt8(ascii: "-"): allowsHyphen
        default: Self.isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
