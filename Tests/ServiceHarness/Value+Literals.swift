package import DBus

/// Values as literals, in the forms in which the service replies them.
///
/// `["a": 1, "b": [true]]` is a dictionary of strings and variants, with an array of variants in it.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(integerLiteral value: Int64) { self = .int64(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }

    package init(arrayLiteral elements: Value...) {
        self = .array(of: "v", elements.map(Value.variant))
    }

    package init(dictionaryLiteral entries: (String, Value)...) {
        self = .variants(entries)
    }
}

/// What calls take beside values.
extension Value {
    /// A dictionary of strings and variants, which may have a key twice.
    static func variants(_ entries: [(String, Value)]) -> Value {
        .dictionary(
            key: "s", value: "v", entries.map { Entry(.string($0.0), .variant($0.1)) })
    }

    static func strings(_ strings: [String]) -> Value {
        .array(of: "s", strings.map(Value.string))
    }

    /// Keys with the generations that a change expects.
    static func generations(_ entries: [(String, UInt64)] = []) -> Value {
        .dictionary(
            key: "s", value: "t", entries.map { Entry(.string($0.0), .uint64($0.1)) })
    }

    /// Keys with archives.
    static func archives(_ entries: [(String, [UInt8])] = []) -> Value {
        .dictionary(
            key: "s", value: "ay", entries.map { Entry(.string($0.0), .bytes($0.1)) })
    }

    /// A text that is so long.
    static func text(of length: Int) -> Value { .string(String(repeating: "x", count: length)) }
}
