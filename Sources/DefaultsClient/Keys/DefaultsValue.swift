internal import KeyedArchive

/// A value whose kind is known only at run time.
///
/// A dictionary of such values has what a program cannot declare as fields: the settings of plug-ins,
/// or values of another program that are kept as they are.
///
/// ```swift
/// extension AnyDefaultsKey {
///     static let extras = DefaultsKey("Extras", default: [:] as [String: DefaultsValue])
/// }
///
/// defaults[.extras] = ["zoom": 1.5, "grid": true, "recent": ["a.txt", "b.txt"]]
/// let zoom = defaults[.extras]["zoom"]?.doubleValue ?? 1
/// ```
///
/// Each kind is stored as itself, and stays what it is: `1` is an integer, `1.0` a real and `true` a
/// boolean. A stored value of another kind is an error: an object of a class, a set, nil, or an integer
/// that is larger than an `Int`.
public enum DefaultsValue: Hashable, Sendable {
    /// A boolean.
    case bool(Bool)
    /// An integer.
    case int(Int)
    /// A real.
    case double(Double)
    /// A string.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A date, in seconds since 2001-01-01 00:00:00 UTC.
    case date(secondsSince2001: Double)
    /// An array.
    case array([DefaultsValue])
    /// A dictionary.
    case dictionary([String: DefaultsValue])
}

// MARK: Access

extension DefaultsValue {
    /// The boolean, if it is one.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The integer, if it is one.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }

    /// The real, or the integer as a real if that is exact.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(exactly: value)
        default: nil
        }
    }

    /// The string, if it is one.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The bytes, if it is data.
    public var dataValue: [UInt8]? { if case .data(let value) = self { value } else { nil } }

    /// The seconds since 2001-01-01 00:00:00 UTC, if it is a date.
    public var secondsSince2001: Double? {
        if case .date(let seconds) = self { seconds } else { nil }
    }

    /// The elements, if it is an array.
    public var arrayValue: [DefaultsValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The entries, if it is a dictionary.
    public var dictionaryValue: [String: DefaultsValue]? {
        if case .dictionary(let entries) = self { entries } else { nil }
    }

    /// The value of a key, if it is a dictionary that has it; otherwise nil.
    public subscript(key: String) -> DefaultsValue? { dictionaryValue?[key] }

    /// The element at an index, if it is an array that has one there.
    public subscript(index: Int) -> DefaultsValue? {
        guard let arrayValue, arrayValue.indices.contains(index) else { return nil }
        return arrayValue[index]
    }
}

// MARK: Coding

extension DefaultsValue: Codable {
    /// Decodes a value of any kind.
    ///
    /// Other decoders than that of archives do not know the kind, so it is the first one that fits.
    public init(from decoder: any Decoder) throws {
        let kind = (decoder as? any KindDecoder)?.kind ?? Self.firstKind(of: decoder)
        let container = try decoder.singleValueContainer()
        switch kind {
        case .boolean: self = .bool(try container.decode(Bool.self))
        case .integer: self = .int(try container.decode(Int.self))
        case .real: self = .double(try container.decode(Double.self))
        case .string: self = .string(try container.decode(String.self))
        case .data: self = .data(try container.decode([UInt8].self))
        case .date:
            let date = try container.decode(ArchivedDate.self)
            self = .date(secondsSince2001: date.secondsSince2001)
        case .array: self = .array(try container.decode([DefaultsValue].self))
        case .dictionary: self = .dictionary(try container.decode([String: DefaultsValue].self))
        case .null: throw Self.cannotHold("nil", at: decoder)
        case .other(let name): throw Self.cannotHold(name, at: decoder)
        }
    }

    private static func firstKind(of decoder: any Decoder) -> ArchivedKind {
        if (try? decoder.unkeyedContainer()) != nil { return .array }
        guard let container = try? decoder.singleValueContainer() else { return .dictionary }
        if container.decodeNil() { return .null }
        if (try? container.decode(Bool.self)) != nil { return .boolean }
        if (try? container.decode(Int.self)) != nil { return .integer }
        if (try? container.decode(Double.self)) != nil { return .real }
        if (try? container.decode(String.self)) != nil { return .string }
        return .dictionary
    }

    private static func cannotHold(_ name: String, at decoder: any Decoder) -> DecodingError {
        .typeMismatch(
            DefaultsValue.self,
            DecodingError.Context(
                codingPath: decoder.codingPath,
                debugDescription: "The value is \(name), which a DefaultsValue cannot hold."))
    }

    /// Encodes the value as what it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let bytes): try container.encode(bytes)
        case .date(let seconds): try container.encode(ArchivedDate(secondsSince2001: seconds))
        case .array(let elements): try container.encode(elements)
        case .dictionary(let entries): try container.encode(entries)
        }
    }
}

// MARK: Literals

extension DefaultsValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes an integer.
    public init(integerLiteral value: Int) { self = .int(value) }

    /// Makes a real.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes an array.
    public init(arrayLiteral elements: DefaultsValue...) { self = .array(elements) }

    /// Makes a dictionary.
    ///
    /// If a key is repeated, its last value counts.
    public init(dictionaryLiteral elements: (String, DefaultsValue)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
}
