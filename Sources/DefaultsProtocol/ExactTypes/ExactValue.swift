package import DBus

/// A value with its exact type.
///
/// An archive keeps it in the value form. If the type does not follow from that, the value is in a
/// marker: an object of the class `GVariant` with the fields `type` and `value`. The rules are in
/// the manual page defaultsd-values(5), under "Exact types".
package struct ExactValue: Hashable, Sendable {
    /// What the value consists of.
    package indirect enum Content: Hashable, Sendable {
        case boolean(Bool)
        case integer(Int128)
        case double(Double)
        /// Also an object path or a signature.
        case string(String)
        case bytes([UInt8])
        /// The elements of an array or a tuple, the key and value of an entry, or the content of a
        /// maybe, if it has one.
        case elements([ExactValue])
        case variant(ExactValue)
    }

    /// Its type.
    package let type: ExactType
    /// What it consists of, which fits the type.
    package let content: Content

    /// Pairs a type with a content that fits it.
    package init(_ type: ExactType, _ content: Content) {
        self.type = type
        self.content = content
    }
}

/// How integers without a marker are taken if no schema says their type.
package enum PlainInteger: Sendable {
    /// As `x`.
    case int64
    /// As `i`, or as `x` if they do not fit.
    case int32

    /// Whether an integer of this type needs no marker.
    fileprivate func covers(_ value: ExactValue) -> Bool {
        switch (self, value.type, value.content) {
        case (.int64, .int64, _), (.int32, .int32, _): true
        case (.int32, .int64, .integer(let number)): Int32(exactly: number) == nil
        default: false
        }
    }

    fileprivate func type(of number: Int128) -> ExactType? {
        switch self {
        case .int32 where Int32(exactly: number) != nil: .int32
        default:
            Int64(exactly: number) != nil ? .int64 : UInt64(exactly: number).map { _ in .uint64 }
        }
    }
}

// MARK: From the value form

extension ExactValue {
    /// A value of a known type from its value form; nil if it does not fit.
    ///
    /// Integers of any width are taken if they fit, an integer also for a double, and a marker with
    /// a value of this type.
    package init?(_ form: Value, as type: ExactType, plainInteger: PlainInteger = .int64) {
        let form = form.unwrapped
        // A marker in place of a variant is what the variant contains.
        if type != .variant, type != .maybe(.variant), let (_, value) = form.marker {
            self.init(value, as: type, plainInteger: plainInteger)
            return
        }
        guard let content = Self.content(of: form, as: type, plainInteger) else { return nil }
        self.init(type, content)
    }

    /// The value that a form without a known type means; nil if it is no GVariant.
    package init?(_ form: Value, plainInteger: PlainInteger = .int64) {
        let form = form.unwrapped
        if let (type, value) = form.marker {
            self.init(value, as: type, plainInteger: plainInteger)
        } else if let type = form.plainType(plainInteger) {
            self.init(form, as: type, plainInteger: plainInteger)
        } else {
            return nil
        }
    }

    private static func content(
        of form: Value, as type: ExactType, _ plainInteger: PlainInteger
    ) -> Content? {
        switch (type, form) {
        case (.boolean, .boolean(let flag)): return .boolean(flag)
        case (.double, .double(let number)): return .double(number)
        case (.double, _): return form.integer.map { .double(Double($0)) }
        case (.string, .string(let text)): return .string(text)
        case (.objectPath, .string(let text)):
            return (try? ObjectPath(text)).map { .string($0.string) }
        case (.signature, .string(let text)):
            return (try? Signature(text)).map { .string($0.string) }
        case (.array(.byte), .bytes(let bytes)): return .bytes(bytes)
        case (.array(.byte), _): return form.byteList.map(Content.bytes)
        case (.variant, _):
            return ExactValue(form, plainInteger: plainInteger).map(Content.variant)
        default: break
        }
        if let numbers = type.integers {
            return form.integer.flatMap { numbers.contains($0) ? .integer($0) : nil }
        }
        return elements(of: form, as: type, plainInteger).map(Content.elements)
    }

    private static func elements(
        of form: Value, as type: ExactType, _ plainInteger: PlainInteger
    ) -> [ExactValue]? {
        func read(_ values: [Value], as types: [ExactType]) -> [ExactValue]? {
            let read = zip(values, types).compactMap {
                ExactValue($0, as: $1, plainInteger: plainInteger)
            }
            return read.count == values.count && values.count == types.count ? read : nil
        }
        switch type {
        case .array(.entry(let key, let value)):
            let entry = ExactType.entry(key: key, value: value)
            return form.pairs.flatMap { pairs in
                let entries = pairs.compactMap { read([$0, $1], as: [key, value]) }
                return entries.count == pairs.count
                    ? entries.map { ExactValue(entry, .elements($0)) } : nil
            }
        case .array(let element):
            return form.list.flatMap { read($0, as: Array(repeating: element, count: $0.count)) }
        case .tuple(let fields): return form.list.flatMap { read($0, as: fields) }
        case .entry(let key, let value): return form.list.flatMap { read($0, as: [key, value]) }
        case .maybe(.maybe(let content)):
            return form.list.flatMap { list in
                list.count > 1 ? nil : read(list, as: list.map { _ in .maybe(content) })
            }
        case .maybe(let content): return form.isNothing ? [] : read([form], as: [content])
        default: return nil
        }
    }
}

/// What a value form consists of.
extension Value {
    /// The value inside all variants around it.
    fileprivate var unwrapped: Value {
        var value = self
        while case .variant(let content) = value { value = content }
        return value
    }

    /// Whether it is an integer of any type.
    var isInteger: Bool { unwrapped.integer != nil }

    fileprivate var integer: Int128? {
        switch self {
        case .byte(let number): Int128(number)
        case .int16(let number): Int128(number)
        case .uint16(let number): Int128(number)
        case .int32(let number): Int128(number)
        case .uint32(let number): Int128(number)
        case .int64(let number): Int128(number)
        case .uint64(let number): Int128(number)
        default: nil
        }
    }

    fileprivate var list: [Value]? {
        switch self {
        case .array(_, let elements), .structure(let elements): elements
        case .bytes(let bytes): bytes.map(Value.byte)
        default: nil
        }
    }

    /// The elements as bytes, if all are.
    fileprivate var byteList: [UInt8]? {
        guard let list else { return nil }
        let bytes = list.compactMap { $0.unwrapped.integer.flatMap(UInt8.init(exactly:)) }
        return bytes.count == list.count ? bytes : nil
    }

    private var fields: [String: Value]? {
        guard case .dictionary(_, _, let entries) = self else { return nil }
        let fields = entries.compactMap { entry in
            if case .string(let key) = entry.key { (key, entry.value.unwrapped) } else { nil }
        }
        return Dictionary(fields) { first, _ in first }
    }

    /// The name of its class, if it is an object.
    private var className: String? {
        if case .string(let name)? = fields?["$class"] { name } else { nil }
    }

    /// Whether it is the nil of archives.
    fileprivate var isNothing: Bool { className == "$null" }

    /// The type and the value in a marker; nil if it is none.
    fileprivate var marker: (ExactType, Value)? {
        guard let fields, fields.count == 3, className == ExactValue.className,
            case .string(let text)? = fields["type"], let type = ExactType(text),
            let value = fields["value"]
        else { return nil }
        return (type, value)
    }

    /// The keys and values of a dictionary, in either spelling.
    fileprivate var pairs: [(Value, Value)]? {
        guard case .dictionary(_, _, let entries) = self else { return nil }
        guard let className else { return entries.map { ($0.key, $0.value) } }
        guard className == "NSDictionary", let keys = fields?["NS.keys"]?.list,
            let values = fields?["NS.objects"]?.list, keys.count == values.count
        else { return nil }
        return Array(zip(keys, values))
    }

    /// The type that a form without a marker has.
    fileprivate func plainType(_ plainInteger: PlainInteger) -> ExactType? {
        switch self {
        case .boolean: .boolean
        case .double: .double
        case .string: .string
        case .bytes: .array(.byte)
        case .array: .array(.variant)
        case .dictionary where className == nil || className == "NSDictionary":
            .array(.entry(key: .string, value: .variant))
        default: integer.flatMap(plainInteger.type)
        }
    }
}

// MARK: To the value form

extension ExactValue {
    /// The name of the class of markers.
    static let className = "GVariant"

    /// The value form for a reader that knows the type.
    package func form(plainInteger: PlainInteger = .int64) -> Value {
        switch content {
        case .boolean(let flag): .boolean(flag)
        case .integer(let number):
            Int64(exactly: number).map(Value.int64) ?? .uint64(UInt64(clamping: number))
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .bytes(let bytes): .bytes(bytes)
        case .variant(let value): value.formWithType(plainInteger: plainInteger)
        case .elements(let elements): form(of: elements, plainInteger)
        }
    }

    /// The value form for a reader that does not know the type: with a marker if it is needed.
    package func formWithType(plainInteger: PlainInteger = .int64) -> Value {
        let form = form(plainInteger: plainInteger)
        return type.needsNoMarker || plainInteger.covers(self) ? form : marker(around: form)
    }

    private func marker(around form: Value) -> Value {
        .object(Self.className, [("type", .string(type.description)), ("value", form)])
    }

    /// Whether a value form is a marker, so that it says its type itself.
    package static func isMarker(_ form: Value) -> Bool { form.unwrapped.marker != nil }

    /// The value form for a reader that may never know the type: with a marker unless the type is evident.
    package var lastingForm: Value { type.isEvident ? form() : markedForm }

    /// The type and the content of a marker; nil if a form is none.
    package static func parts(ofMarker form: Value) -> (type: ExactType, content: Value)? {
        form.unwrapped.marker
    }

    /// The value form with a marker in any case.
    package var markedForm: Value { marker(around: form()) }

    private func form(of elements: [ExactValue], _ plainInteger: PlainInteger) -> Value {
        let forms = elements.map { $0.form(plainInteger: plainInteger) }
        switch type {
        case .maybe(.maybe): return .list(forms)
        case .maybe: return forms.first ?? .object("$null", [])
        case .array(.entry(let key, _)): return Self.dictionary(elements, key, plainInteger)
        default: return .list(forms)
        }
    }

    private static func dictionary(
        _ entries: [ExactValue], _ key: ExactType, _ plainInteger: PlainInteger
    ) -> Value {
        let pairs = entries.compactMap { entry -> (key: Value, value: Value)? in
            guard case .elements(let pair) = entry.content, pair.count == 2 else { return nil }
            return (
                pair[0].form(plainInteger: plainInteger), pair[1].form(plainInteger: plainInteger)
            )
        }
        let names = pairs.compactMap { pair in
            if case .string(let name) = pair.key { name } else { nil }
        }
        guard names.count == pairs.count, Set(names).count == names.count,
            !names.contains(where: { $0.hasPrefix("$") })
        else {
            return .object(
                "NSDictionary",
                [("NS.keys", .list(pairs.map(\.key))), ("NS.objects", .list(pairs.map(\.value)))])
        }
        return .dictionary(
            key: "s", value: "v", pairs.map { Value.Entry($0.key, .variant($0.value)) })
    }
}

extension Value {
    fileprivate static func list(_ elements: [Value]) -> Value {
        .array(of: "v", elements.map(Value.variant))
    }

    fileprivate static func object(_ name: String, _ fields: [(String, Value)]) -> Value {
        .dictionary(
            key: "s", value: "v",
            ([("$class", .string(name))] + fields).map { .init(.string($0), .variant($1)) })
    }
}
