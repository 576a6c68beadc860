/// The character that stands for a type in a signature and in libdbus's interface.
///
/// See the [specification](https://dbus.freedesktop.org/doc/dbus-specification.html#idm487).
public enum TypeCode: UInt8, Sendable {
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

    /// Takes the code that libdbus reports; nil where it reports the end of the values.
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
    public var character: Character {
        switch self {
        case .structure: "("
        case .dictionaryEntry: "{"
        default: Character(Unicode.Scalar(rawValue))
        }
    }
}
