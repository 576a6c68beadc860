/// What the first bytes of an object say: its type, and where its content is.
struct Layout {
    enum Kind {
        case no, yes
        case integer
        case real, singleReal
        case date
        case data
        case ascii, utf16
        case uid
        case array, orderedSet, set, dictionary

        var isCollection: Bool {
            switch self {
            case .array, .orderedSet, .set, .dictionary: true
            case .no, .yes, .integer, .real, .singleReal, .date, .data, .ascii, .utf16, .uid: false
            }
        }
    }

    let kind: Kind
    /// Where the content begins.
    let start: Int
    /// How many bytes, code units or elements the content has.
    let count: Int
    /// How many bytes the content takes.
    let size: Int
}
