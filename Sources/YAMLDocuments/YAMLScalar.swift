internal import CYAML
internal import KeyedArchive
internal import OwnedDocuments
internal import PropertyList

/// A scalar of YAML, which is read by the core schema of YAML 1.2, section 10.3.2.
///
/// What other readers, or people, take for something else has to be quoted: `yes`, a number with a leading zero,
/// what is a number by one version of YAML only, and nothing.
struct YAMLScalar {
    let text: String
    /// Whether it has neither quotes nor a tag, so that it may be something else than a string.
    let isPlain: Bool
    private let isBinary: Bool

    init(_ event: yaml_event_t, at place: DocumentError.Place) throws(DocumentError) {
        let scalar = event.data.scalar
        let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        text = String(decoding: bytes, as: UTF8.self)
        let tag = YAMLDocuments.text(scalar.tag)
        switch tag {
        case nil: (isPlain, isBinary) = (scalar.style == YAML_PLAIN_SCALAR_STYLE, false)
        case "tag:yaml.org,2002:str", "!": (isPlain, isBinary) = (false, false)
        case "tag:yaml.org,2002:binary": (isPlain, isBinary) = (false, true)
        default:
            throw DocumentError(
                "The tag '\(tag ?? "")' is not known here; only !!str and !!binary are.", at: place)
        }
    }

    /// Passes the value on.
    func render(
        into builder: inout ValueFormBuilder, at place: DocumentError.Place
    ) throws(DocumentError) {
        do throws(ValueFormError) {
            try pass(to: &builder)
        } catch {
            throw DocumentError(error.message, at: place)
        }
    }

    /// - Throws: `DocumentError` if a person could take it for something else than it is.
    func check(at place: DocumentError.Place) throws(DocumentError) {
        if isBinary {
            guard bytes != nil else {
                throw DocumentError("It is not base64, which !!binary needs.", at: place)
            }
        }
        guard isPlain else { return }
        if text.isEmpty {
            throw DocumentError(
                "The value is empty. Write null, or \"\" for an empty string.", at: place)
        }
        if ["yes", "no", "on", "off"].contains(text.lowercased()) {
            throw DocumentError(
                "'\(text)' is a boolean to some readers of YAML and a string to others. Write true or false, or "
                    + "quote it.", at: place)
        }
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        if digits.first == UInt8(ascii: "0"), let second = digits.dropFirst().first,
            isDigit(second),
            digits.allSatisfy({ isDigit($0) || [0x2E, 0x5F].contains($0) })
        {
            throw DocumentError(
                "A number with a leading zero means different things to different readers. Quote it, or "
                    + "write it without the zero.", at: place)
        }
        if isNumberByOneVersion {
            throw DocumentError(
                "'\(text)' is a number to some readers of YAML and a string to others. Quote it, or write the number "
                    + "as digits, such as 100000 or 1.0e+5.", at: place)
        }
        if case .real(let number) = kind, number.isInfinite, !text.contains("f"),
            !text.contains("F")
        {
            throw DocumentError("A real is too large for 64 bits.", at: place)
        }
        if case .integer(nil) = kind {
            throw DocumentError("An integer does not fit in 128 bits with a sign.", at: place)
        }
    }

    private enum Kind {
        case null
        case boolean(Bool)
        /// Nil if it is too large.
        case integer(Int128?)
        case real(Double)
        case string
    }

    private var kind: Kind {
        switch text {
        case "null", "Null", "NULL", "~": return .null
        case "true", "True", "TRUE": return .boolean(true)
        case "false", "False", "FALSE": return .boolean(false)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .real(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .real(-.infinity)
        case ".nan", ".NaN", ".NAN": return .real(.nan)
        default: return number
        }
    }

    /// Whether it is a number in YAML 1.1, on which PyYAML and Ruby are, or in YAML 1.2, but not in both.
    private var isNumberByOneVersion: Bool {
        let isNumber =
            switch kind {
            case .integer, .real: true
            case .null, .boolean, .string: false
            }
        return isNumber != OldNumber.isNumber(text)
    }

    private var number: Kind {
        let bytes = Array(text.utf8)
        if bytes.starts(with: "0x".utf8), bytes.count > 2,
            bytes.dropFirst(2).allSatisfy(\.isHexDigit)
        {
            return .integer(Int128(text.dropFirst(2), radix: 16))
        }
        if bytes.starts(with: "0o".utf8), bytes.count > 2,
            bytes.dropFirst(2).allSatisfy(\.isOctalDigit)
        {
            return .integer(Int128(text.dropFirst(2), radix: 8))
        }
        var rest = bytes[...]
        if let sign = rest.first, [0x2B, 0x2D].contains(sign) { rest.removeFirst() }
        let whole = rest.prefix(while: \.isDigit)
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty, !whole.isEmpty { return .integer(Int128(text)) }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = rest.prefix(while: \.isDigit)
            guard !whole.isEmpty || !fraction.isEmpty else { return .string }
            rest = rest.dropFirst(fraction.count)
        } else if whole.isEmpty {
            return .string
        }
        if let exponent = rest.first, [0x45, 0x65].contains(exponent) {
            rest.removeFirst()
            if let sign = rest.first, [0x2B, 0x2D].contains(sign) { rest.removeFirst() }
            let digits = rest.prefix(while: \.isDigit)
            guard !digits.isEmpty else { return .string }
            rest = rest.dropFirst(digits.count)
        }
        guard rest.isEmpty else { return .string }
        guard let number = Double(text) else { return .string }
        return .real(number)
    }

    /// The bytes of a scalar with the tag for them, which may have white space; nil if it is not base64.
    private var bytes: [UInt8]? {
        Base64.decode(
            String(
                decoding: text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }, as: UTF8.self
            ))
    }

    private func pass(to builder: inout ValueFormBuilder) throws(ValueFormError) {
        if isBinary { return try builder.data((bytes ?? [])[...]) }
        guard isPlain else { return try builder.string(Text(text)) }
        switch kind {
        case .null: try builder.null()
        case .boolean(let value): try builder.boolean(value)
        case .integer(let value): try builder.integer(value ?? 0)
        case .real(let value): try builder.real(value)
        case .string: try builder.string(Text(text))
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isOctalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(self) }
    fileprivate var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }
}
