import CDBus

/// A sequence of complete types, such as `a{sv}u`: a table of variants by name, and a number.
///
/// See the [specification][1].
///
/// [1]: https://dbus.freedesktop.org/doc/dbus-specification.html#type-system
package struct Signature: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The signature as it travels.
    package let string: String

    /// Checks a string: known types, closed parentheses, 255 bytes and 32 levels of arrays and of
    /// structures at most.
    ///
    /// - Throws: ``DBusError`` of the name `InvalidSignature` that quotes the string.
    package init(_ string: some StringProtocol) throws(DBusError) {
        let string = String(string)
        // libdbus reads up to the first NUL, so the text after one would not be checked.
        guard string.utf8.count <= Self.maximumLength, !string.utf8.contains(0),
            dbus_signature_validate(string, nil) != 0
        else { throw .badSignature(string) }
        self.string = string
    }

    /// Takes a string that is known to be a signature.
    init(checked string: String) {
        self.string = string
    }

    /// Takes a signature that the program itself spells out; a wrong one traps.
    package init(stringLiteral literal: String) {
        do {
            try self.init(literal)
        } catch {
            preconditionFailure("A literal signature is not one. \(error.message)")
        }
    }

    /// The signature as it travels.
    package var description: String { string }

    static let maximumLength = 255
}

/// A signature as the sequence of its complete types.
extension Signature {
    /// The complete types, one signature for each.
    package var types: [Signature] {
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
    package var isSingleType: Bool {
        let count = string.utf8.count
        return count == 1 || count > 1 && Self.firstType(of: string.utf8[...]).count == count
    }

    /// The code of the first type; nil if there is none.
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

    /// The entry type of a dictionary, which only an array may contain.
    ///
    /// - Throws: ``DBusError`` if the key is a container or one of them is not a single type.
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

/// The character that stands for a type in a signature and in libdbus's interface.
///
/// See the [specification](https://dbus.freedesktop.org/doc/dbus-specification.html#idm487).
package enum TypeCode: UInt8, Sendable {
    case byte = 0x79  // y
    case boolean = 0x62  // b
    case int16 = 0x6E  // n
    case uint16 = 0x71  // q
    case int32 = 0x69  // i
    case uint32 = 0x75  // u
    case int64 = 0x78  // x
    case uint64 = 0x74  // t
    case double = 0x64  // d
    case string = 0x73  // s
    case objectPath = 0x6F  // o
    case signature = 0x67  // g
    case unixFD = 0x68  // h
    case array = 0x61  // a
    case variant = 0x76  // v
    case structure = 0x72  // r in libdbus; ( and ) in a signature
    case dictionaryEntry = 0x65  // e in libdbus; { and } in a signature

    /// Takes the code that libdbus reports; nil if it reports the end of the values.
    init?(libdbus code: Int32) {
        guard let code = UInt8(exactly: code), let type = TypeCode(rawValue: code) else {
            return nil
        }
        self = type
    }

    /// The bytes that a value begins on a multiple of.
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .string, .objectPath, .unixFD, .array: 4
        case .int64, .uint64, .double, .structure, .dictionaryEntry: 8
        }
    }

    /// Whether every value has the same size, so that an array of them is one block to libdbus.
    ///
    /// A descriptor is an index of fixed size on the wire, and libdbus counts it here too.
    var isFixed: Bool {
        switch self {
        case .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .unixFD:
            true
        case .string, .objectPath, .signature, .array, .variant, .structure, .dictionaryEntry:
            false
        }
    }

    /// The character of the type in a signature, for a message to people.
    package var character: Character {
        switch self {
        case .structure: "("
        case .dictionaryEntry: "{"
        default: Character(Unicode.Scalar(rawValue))
        }
    }
}
