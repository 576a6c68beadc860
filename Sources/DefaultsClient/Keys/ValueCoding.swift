public import KeyedArchive

/// How the values of a key are encoded as archives and decoded.
///
/// There is one for all Codable types, and DefaultsFoundation has one for classes of NSSecureCoding. A
/// program can make its own: see <doc:CodingsOfYourOwn>.
public struct ValueCoding<Value>: Sendable {
    /// Encodes a value; nil if setting the value removes the key.
    public let encode: @Sendable (Value) throws -> KeyedArchive?
    /// Decodes an archive, without the fields of any default.
    public let decode: @Sendable (KeyedArchive) throws -> Value
    /// Decodes an archive.
    ///
    /// Fields that it lacks come from a default value, if there is one.
    private let fill: @Sendable (KeyedArchive, @escaping () -> Value?) throws -> Value
    /// Whether all readers may have the same decoded value.
    ///
    /// This is false for objects, which a reader could change, and for codings that a program makes.
    public let isShared: Bool

    /// Makes a coding that decodes the value at each read.
    ///
    /// ```swift
    /// let text = ValueCoding<String>.codable()
    /// return ValueCoding(
    ///     encode: { color in try text.encode(color.hex) },
    ///     decode: { archive in
    ///         guard let color = Color(hex: try text.decode(archive)) else { throw BadColor() }
    ///         return color
    ///     })
    /// ```
    ///
    /// The closures may be called on any thread, also at the same time.
    ///
    /// - Parameters:
    ///   - encode: Encodes a value; nil if setting the value removes the key. Two values are the same if
    ///     their archives are. What it throws is the `underlyingError` of `unencodable`.
    ///   - decode: Decodes an archive. What it throws is the `underlyingError` of `undecodable`.
    public init(
        encode: @escaping @Sendable (Value) throws -> KeyedArchive?,
        decode: @escaping @Sendable (KeyedArchive) throws -> Value
    ) {
        self.encode = encode
        self.decode = decode
        fill = { archive, _ in try decode(archive) }
        isShared = false
    }

    /// Whether two values are equal or have the same archive.
    ///
    /// Objects are made for each read, so only their archives are compared.
    func areSame(_ one: Value, _ other: Value) -> Bool {
        if isShared, let one = one as? any Equatable { return one.isEqual(to: other) }
        do {
            switch (try encode(one), try encode(other)) {
            case (nil, nil): return true
            case (let one?, let other?): return one.isSame(as: other)
            default: return false
            }
        } catch {
            return false
        }
    }

    init(
        isShared: Bool, encode: @escaping @Sendable (Value) throws -> KeyedArchive?,
        fill: @escaping @Sendable (KeyedArchive, @escaping () -> Value?) throws -> Value
    ) {
        self.encode = encode
        decode = { try fill($0) { nil } }
        self.fill = fill
        self.isShared = isShared
    }

    /// The value of an archive.
    ///
    /// - Parameter defaultValue: Gives the fields that the archive lacks.
    func value(
        of archive: KeyedArchive, default defaultValue: @escaping () -> Value?
    ) throws -> Value {
        try fill(archive, defaultValue)
    }

    /// The bytes of the archive of a boolean, a number or a string, which decoding returns exactly; nil
    /// for any other value.
    func exactBytes(of value: Value) -> [UInt8]? {
        guard isShared else { return nil }
        if let bytes = ScalarArchives.bytes(of: value) { return bytes }
        return value is String ? try? encode(value)?.bytes : nil
    }
}

extension ValueCoding where Value: Codable & Sendable {
    /// The coding of a Codable type.
    ///
    /// - Parameters:
    ///   - encoder: The encoder. It may give classes other names.
    ///   - decoder: The decoder. It may know other classes, older versions of the type, and the values of
    ///     missing fields: see <doc:ValuesOfEarlierVersions>.
    public static func codable(
        encoder: KeyedArchiveEncoder = KeyedArchiveEncoder(),
        decoder: KeyedArchiveDecoder = KeyedArchiveDecoder()
    ) -> ValueCoding {
        // The type of a key may be an optional by inference: `DefaultsKey("Player", default: nil)`.
        let isOptional = Value.self is any OptionalType.Type
        return ValueCoding(
            isShared: true,
            encode: { value in
                if isOptional, (value as? any OptionalType)?.isNil != false { return nil }
                return try encoder.encode(value)
            },
            fill: { archive, defaultValue in
                try decoder.decode(Value.self, from: archive) {
                    try defaultValue().map(encoder.encode)
                }
            })
    }
}

extension ValueCoding
where Value: RawRepresentable & Sendable, Value.RawValue: Codable & Sendable {
    /// The coding of a type that is stored as its raw value.
    ///
    /// A stored value that is not a raw value of the type cannot be read.
    public static func rawRepresentable() -> ValueCoding {
        let raw = ValueCoding<Value.RawValue>.codable()
        return ValueCoding(
            isShared: true,
            encode: { try raw.encode($0.rawValue) },
            fill: { archive, defaultValue in
                let rawValue = try raw.value(of: archive) { defaultValue()?.rawValue }
                guard let value = Value(rawValue: rawValue) else {
                    throw NoSuchRawValue(type: Value.self)
                }
                return value
            })
    }
}

extension ValueCoding {
    /// The coding of an optional type.
    ///
    /// ```swift
    /// static let accent = DefaultsKey<Color?>("Accent", coding: .optional(.hex()), default: nil)
    /// ```
    ///
    /// Nothing is stored for nil: setting nil removes the value.
    public static func optional<Wrapped>(_ wrapped: ValueCoding<Wrapped>) -> ValueCoding
    where Value == Wrapped? {
        ValueCoding(
            isShared: wrapped.isShared,
            encode: { try $0.flatMap(wrapped.encode) },
            fill: { archive, defaultValue in
                try wrapped.value(of: archive) { defaultValue() ?? nil }
            })
    }
}

/// A stored value that is not a raw value of the key's type.
private struct NoSuchRawValue: LoggableError {
    let type: Any.Type

    var description: String { "It is not a raw value of \(type)." }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}

/// Shows at run time that a type is an optional.
private protocol OptionalType {
    var isNil: Bool { get }
}

extension Optional: OptionalType {
    fileprivate var isNil: Bool { if case .none = self { true } else { false } }
}

/// Archives of booleans and numbers, which are written often, made without an encoder.
///
/// Archives of numbers of one width differ only in the bytes of the number. The encoder makes the other
/// bytes once for each width.
enum ScalarArchives {
    /// The bytes of an archive in which a number is put.
    private struct Template {
        let bytes: [UInt8]
        /// Where the number's bytes are.
        let place: Range<Int>

        /// Finds the place by the archives of two numbers that have no byte in common.
        init?<Number: Encodable>(_ first: Number, _ second: Number) {
            let encoder = KeyedArchiveEncoder()
            guard let first = try? encoder.encode(first).bytes,
                let second = try? encoder.encode(second).bytes, first.count == second.count
            else { return nil }
            let different = first.indices.filter { first[$0] != second[$0] }
            guard let start = different.first, let end = different.last else { return nil }
            bytes = first
            place = start..<end + 1
        }

        /// The archive of a number; nil if the number has another width.
        func archive(of number: UInt64, width: Int) -> [UInt8]? {
            guard place.count == width else { return nil }
            var bytes = bytes
            for (position, index) in place.enumerated() {
                bytes[index] = UInt8(
                    truncatingIfNeeded: number >> (8 * UInt64(width - 1 - position)))
            }
            return bytes
        }
    }

    private static let yes = try? KeyedArchiveEncoder().encode(true).bytes
    private static let no = try? KeyedArchiveEncoder().encode(false).bytes
    private static let oneByte = Template(0x11, 0x22)
    private static let twoBytes = Template(0x1111, 0x2222)
    private static let fourBytes = Template(0x1111_1111, 0x2222_2222)
    private static let eightBytes = Template(0x1111_1111_1111_1111, 0x2222_2222_2222_2222)
    private static let real = Template(
        Double(bitPattern: 0x1111_1111_1111_1111), Double(bitPattern: 0x2222_2222_2222_2222))

    /// The archive of a value that is a boolean or a number; nil for any other, which the encoder
    /// encodes.
    static func bytes<Value>(of value: Value) -> [UInt8]? {
        if Value.self == Bool.self, let value = value as? Bool { return value ? yes : no }
        if Value.self == Int.self, let value = value as? Int { return bytes(of: value) }
        if Value.self == Double.self, let value = value as? Double {
            return real?.archive(of: value.bitPattern, width: 8)
        }
        return nil
    }

    private static func bytes(of value: Int) -> [UInt8]? {
        let number = UInt64(bitPattern: Int64(value))
        return switch number {
        case 0...0xff: oneByte?.archive(of: number, width: 1)
        case 0...0xffff: twoBytes?.archive(of: number, width: 2)
        case 0...0xffff_ffff: fourBytes?.archive(of: number, width: 4)
        default: eightBytes?.archive(of: number, width: 8)
        }
    }
}
