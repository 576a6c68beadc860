/// A type of GVariant, such as `u` or `a{sv}`.
///
/// Archives have fewer types: one for integers of all widths, one for arrays of all elements. A
/// program that needs the exact type gets it from a schema, or from a marker beside the value. See
/// ``ExactValue``.
package indirect enum ExactType: Hashable, Sendable {
    case boolean
    case byte
    case int16
    case uint16
    case int32
    case uint32
    case int64
    case uint64
    case double
    case string
    case objectPath
    case signature
    case variant
    case maybe(ExactType)
    case array(ExactType)
    case tuple([ExactType])
    /// A key and its value; mostly the element of an array, which is then a dictionary.
    case entry(key: ExactType, value: ExactType)

    /// The most bytes of a type, and the most types inside each other.
    ///
    /// GLib's limits are higher, but D-Bus has these, and no schema comes near them.
    package static let maximumLength = 255
    package static let maximumDepth = 32

    /// Reads the text of one complete type.
    ///
    /// Nil if it is none, too long or too deep, or if it contains a handle (`h`), which no value
    /// that is stored can have.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        var rest = text.utf8[...]
        guard let type = Self.read(from: &rest, depth: 0), rest.isEmpty else { return nil }
        self = type
    }

    private static let basic: [UInt8: ExactType] = [
        UInt8(ascii: "b"): .boolean, UInt8(ascii: "y"): .byte, UInt8(ascii: "n"): .int16,
        UInt8(ascii: "q"): .uint16, UInt8(ascii: "i"): .int32, UInt8(ascii: "u"): .uint32,
        UInt8(ascii: "x"): .int64, UInt8(ascii: "t"): .uint64, UInt8(ascii: "d"): .double,
        UInt8(ascii: "s"): .string, UInt8(ascii: "o"): .objectPath, UInt8(ascii: "g"): .signature,
    ]

    private static func read(
        from rest: inout Substring.UTF8View.SubSequence, depth: Int
    ) -> ExactType? {
        guard depth < maximumDepth, let letter = rest.popFirst() else { return nil }
        switch letter {
        case UInt8(ascii: "v"): return .variant
        case UInt8(ascii: "m"): return read(from: &rest, depth: depth + 1).map(ExactType.maybe)
        case UInt8(ascii: "a"): return read(from: &rest, depth: depth + 1).map(ExactType.array)
        case UInt8(ascii: "("): return readTuple(from: &rest, depth: depth + 1)
        case UInt8(ascii: "{"): return readEntry(from: &rest, depth: depth + 1)
        default: return basic[letter]
        }
    }

    private static func readTuple(
        from rest: inout Substring.UTF8View.SubSequence, depth: Int
    ) -> ExactType? {
        var fields: [ExactType] = []
        while rest.first != UInt8(ascii: ")") {
            guard let field = read(from: &rest, depth: depth) else { return nil }
            fields.append(field)
        }
        rest.removeFirst()
        return .tuple(fields)
    }

    private static func readEntry(
        from rest: inout Substring.UTF8View.SubSequence, depth: Int
    ) -> ExactType? {
        guard let letter = rest.popFirst(), let key = basic[letter],
            let value = read(from: &rest, depth: depth), rest.popFirst() == UInt8(ascii: "}")
        else { return nil }
        return .entry(key: key, value: value)
    }
}

extension ExactType: CustomStringConvertible {
    /// The type as GVariant and D-Bus write it.
    package var description: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .variant: "v"
        case .maybe(let content): "m\(content)"
        case .array(let element): "a\(element)"
        case .tuple(let fields): "(" + fields.map(\.description).joined() + ")"
        case .entry(let key, let value): "{\(key)\(value)}"
        }
    }
}

extension ExactType {
    /// Whether an archive has the type itself, so that its values need no marker.
    ///
    /// Integers depend on ``PlainInteger``.
    var needsNoMarker: Bool {
        switch self {
        case .boolean, .double, .string, .array(.byte), .array(.variant),
            .array(.entry(key: .string, value: .variant)):
            true
        default: false
        }
    }

    /// Whether each value of the type is found again in its form by a reader without a schema, and so is each
    /// later value that has the same form.
    ///
    /// The reader takes integers as ``PlainInteger/int32``, and an array of strings as `as`. So an integer of
    /// type `x` is not evident, as a later one may fit an `i`.
    package var isEvident: Bool {
        switch self {
        case .boolean, .int32, .double, .string, .array(.string), .array(.byte): true
        default: false
        }
    }

    /// The numbers of an integer type; nil for other types.
    package var integers: ClosedRange<Int128>? {
        switch self {
        case .byte: 0...Int128(UInt8.max)
        case .int16: Int128(Int16.min)...Int128(Int16.max)
        case .uint16: 0...Int128(UInt16.max)
        case .int32: Int128(Int32.min)...Int128(Int32.max)
        case .uint32: 0...Int128(UInt32.max)
        case .int64: Int128(Int64.min)...Int128(Int64.max)
        case .uint64: 0...Int128(UInt64.max)
        default: nil
        }
    }

    /// Whether D-Bus has the type: it has no maybe types, no empty tuples, and entries in
    /// dictionaries only.
    package var isOfDBus: Bool {
        switch self {
        case .maybe, .entry: false
        case .array(.entry(_, let value)): value.isOfDBus
        case .array(let element): element.isOfDBus
        case .tuple(let fields): !fields.isEmpty && fields.allSatisfy(\.isOfDBus)
        default: true
        }
    }
}
