/// The name of a field, quick to be compared.
struct FieldName {
    let string: String
    private let isASCII: Bool

    init(_ string: String) {
        self.string = string
        isASCII = string.utf8.allSatisfy { $0 < 0x80 }
    }

    /// Whether the code units are the same; strings are equal for less.
    func isSame(as other: String) -> Bool {
        guard string.utf8.count == other.utf8.count, string == other else { return false }
        // No other string of as many bytes is equivalent to an ASCII string.
        return isASCII || string.utf8.elementsEqual(other.utf8)
    }
}
