/// A signature as the sequence of its complete types.
extension Signature {
    /// The complete types, one signature for each.
    public var types: [Signature] {
        var types: [Signature] = []
        var rest = string.utf8[...]
        while !rest.isEmpty {
            let type = Self.firstType(of: rest)
            types.append(Signature(checked: String(Substring(type))))
            rest = rest[type.endIndex...]
        }
        return types
    }

    /// Whether it is exactly one complete type, as an array's element and a variant's content are.
    public var isSingleType: Bool {
        !string.isEmpty && Self.firstType(of: string.utf8[...]).count == string.utf8.count
    }

    /// The code of the first type; nil where there is none.
    var firstCode: TypeCode? {
        switch string.utf8.first {
        case nil: nil
        case UInt8(ascii: "("): .structure
        case UInt8(ascii: "{"): .dictionaryEntry
        case let byte?: TypeCode(rawValue: byte)
        }
    }

    /// The signature of an array of these.
    var asArray: Signature { Signature(checked: "a" + string) }

    /// The element of a dictionary; it stands in no other place than an array.
    ///
    /// - Throws: ``DBusError`` where the key is a container or one of them is not a single type.
    static func entry(key: Signature, value: Signature) throws(DBusError) -> Signature {
        let element = "{\(key)\(value)}"
        _ = try Signature("a" + element)
        return Signature(checked: element)
    }

    /// The first complete type of a valid, non-empty sequence.
    private static func firstType(of rest: Substring.UTF8View) -> Substring.UTF8View.SubSequence {
        var depth = 0
        for index in rest.indices {
            switch rest[index] {
            case UInt8(ascii: "a"): continue
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if depth == 0 { return rest[...index] }
        }
        return rest
    }
}
