/// The name of a type as a class name: the name at run time, without the parts that differ between
/// builds.
///
/// A nested type includes the name of its outer type (`Outer.Inner`), and a generic type its
/// arguments (`Box<Int>`). The contexts that Swift adds to private and local types are omitted.
struct TypeName {
    /// With modules: `Module.Outer.Inner<Module.Argument>`.
    let qualified: String
    /// Without modules: `Outer.Inner<Argument>`.
    let unqualified: String

    init(of type: Any.Type) {
        let name = Array(_typeName(type, qualified: true).utf8)
        qualified = Self.spell(name, keepsModules: true)
        unqualified = Self.spell(name, keepsModules: false)
    }

    /// Writes a name with or without the first part of each path in it.
    private static func spell(_ name: [UInt8], keepsModules: Bool) -> String {
        var result: [UInt8] = []
        var part: [UInt8] = []
        var isModule = true
        var position = 0
        while position < name.count {
            let byte = name[position]
            switch byte {
            case UInt8(ascii: "."):
                if !isModule || keepsModules { result += part + [byte] }
                part = []
                isModule = false
                while position + 1 < name.count, name[position + 1] == UInt8(ascii: "(") {
                    position = end(ofContextAt: position + 1, in: name)
                }
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: ","), UInt8(ascii: " "),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "&"):
                result += part + [byte]
                part = []
                // The path of a generic argument begins again. After a closing bracket, it is still
                // the same path.
                isModule = byte != UInt8(ascii: ">")
            default:
                part.append(byte)
            }
            position += 1
        }
        return String(decoding: result + part, as: UTF8.self)
    }

    /// The position of the dot after "(unknown context at …)" or "(function …)", which may have
    /// nested brackets.
    private static func end(ofContextAt start: Int, in name: [UInt8]) -> Int {
        var depth = 0
        for position in start..<name.count {
            if name[position] == UInt8(ascii: "(") { depth += 1 }
            if name[position] == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { return position + 1 }
        }
        return name.count - 1
    }
}

/// The name of a field, prepared for fast comparison.
struct FieldName {
    let string: String
    private let isASCII: Bool

    init(_ string: String) {
        self.string = string
        isASCII = string.utf8.allSatisfy { $0 < 0x80 }
    }

    /// Whether the code units are equal.
    ///
    /// Swift's strings treat more spellings as equal.
    func isSame(as other: String) -> Bool {
        guard string.utf8.count == other.utf8.count, string == other else { return false }
        // No other string with as many bytes is equivalent to an ASCII string.
        return isASCII || string.utf8.elementsEqual(other.utf8)
    }
}

/// A step of a coding path: the name of a field, or the index of an element.
///
/// It is small enough to need no memory of its own in an `any CodingKey`.
package enum PathKey: CodingKey {
    case name(String)
    case index(Int)

    package init(stringValue: String) { self = .name(stringValue) }

    package init(intValue: Int) { self = .index(intValue) }

    package var stringValue: String {
        switch self {
        case .name(let name): name
        case .index(let index): "Index \(index)"
        }
    }

    package var intValue: Int? {
        if case .index(let index) = self { index } else { nil }
    }
}
