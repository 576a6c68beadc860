/// What the first bytes of an object say: its type, and where its content is.
struct Layout {
    let kind: Kind
    /// Where the content begins.
    let start: Int
    /// How many bytes, code units or elements the content has.
    let count: Int
}

extension Layout {
    /// The type of an object, as CoreFoundation's
    /// [CFBinaryPList.c](https://github.com/apple-oss-distributions/CF/blob/main/CFBinaryPList.c)
    /// spells them.
    enum Kind {
        case no, yes
        case integer
        case real, singleReal
        case date
        case data
        case ascii, utf16
        case uid
        case array, orderedSet, set, dictionary

        /// The type that the first byte of an object names: in its upper half, and of numbers the
        /// size in its lower half.
        init?(marker: UInt8) {
            switch marker {
            case 0x08: self = .no
            case 0x09: self = .yes
            case 0x10...0x14: self = .integer
            case 0x22: self = .singleReal
            case 0x23: self = .real
            case 0x33: self = .date
            case 0x40...0x4F: self = .data
            case 0x50...0x5F: self = .ascii
            case 0x60...0x6F: self = .utf16
            // Sixteen bytes can be spelled; no reader takes more than eight.
            case 0x80...0x87: self = .uid
            case 0xA0...0xAF: self = .array
            case 0xB0...0xBF: self = .orderedSet
            case 0xC0...0xCF: self = .set
            case 0xD0...0xDF: self = .dictionary
            default: return nil
            }
        }

        /// Whether objects of this type hold others.
        var isCollection: Bool {
            switch self {
            case .array, .orderedSet, .set, .dictionary: true
            case .no, .yes, .integer, .real, .singleReal, .date, .data, .ascii, .utf16, .uid: false
            }
        }
    }
}
