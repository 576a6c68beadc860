import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import PropertyList
import ValuePaths

/// Values with an exact type of GVariant, which desktop programs store.
extension KeyedArchive {
    /// The exact type that the whole value has; nil if it has none.
    ///
    /// A marker without a value is the user's own dictionary.
    func exactType() throws -> ExactType? {
        guard mayHaveMarkers else { return nil }
        var marker = MarkerType()
        try? render(into: &marker)
        return marker.hasValue ? marker.type : nil
    }

    /// The value as people want to see it: without exact types.
    func shown() throws -> KeyedArchive {
        guard mayHaveMarkers else { return self }
        var sink = MarkerRemoval(into: ValueFormBuilder())
        do {
            try render(into: &sink)
        } catch is MarkerRemoval<ValueFormBuilder>.NoValue {
            return self
        }
        return sink.sink.finish()
    }

    /// Changes the value without its exact type, and gives it the type again.
    ///
    /// - Throws: `ToolError` if the new value does not fit the type.
    func changingShown(
        _ change: (KeyedArchive) throws -> KeyedArchive
    ) throws -> KeyedArchive {
        guard let type = try exactType() else { return try change(self) }
        return try change(shown()).fitted(to: type)
    }

    /// The value with an exact type.
    ///
    /// - Throws: `ToolError` if it does not fit.
    fileprivate func fitted(to type: ExactType) throws -> KeyedArchive {
        guard let value = ExactValue(try VariantForm.value(of: self), as: type) else {
            throw ToolError.wrongType(type)
        }
        return try VariantForm.archive(of: value.markedForm)
    }
}

/// A value that takes over the exact type of the one that it replaces.
struct TypedWrite {
    let value: KeyedArchive
    /// Whether it is a word without a type.
    let isBare: Bool
    /// What an installed schema demands of the key, if there is one.
    var schema: SchemaDemand?

    /// The value with the exact type that the current value of the key has.
    ///
    /// A current value that cannot be read has none. It is replaced all the same.
    func fitted(
        to key: String, in domain: String, of defaults: RemoteDefaults
    ) async throws -> KeyedArchive {
        guard try value.exactType() == nil else { return value }
        let current = try? await defaults.archiveIfThere(forKey: key, in: domain).archive
        let fitted = try value(replacing: current)
        if isBare { BareWord.remark(on: fitted, replacing: current, of: key) }
        return fitted
    }

    /// The value with the exact type of another one, or of the schema.
    ///
    /// - Throws: `ToolError` if it does not fit.
    func value(replacing current: KeyedArchive?) throws -> KeyedArchive {
        guard try value.exactType() == nil else { return value }
        guard let type = try current?.exactType() else {
            guard let schema, let word else { return value }
            return try schema.value(of: word)
        }
        return try spelled(as: type).fitted(to: type)
    }

    /// The word without a type, if the value is one.
    private var word: String? {
        var text = SingleString()
        guard isBare, (try? value.render(into: &text)) != nil else { return nil }
        return text.text?.description
    }

    /// A word as the number or the boolean that the type is.
    private func spelled(as type: ExactType) throws -> KeyedArchive {
        guard let word else { return value }
        var builder = ValueFormBuilder()
        switch type {
        case .boolean where ["true", "yes", "1"].contains(word): try builder.boolean(true)
        case .boolean where ["false", "no", "0"].contains(word): try builder.boolean(false)
        case .double:
            guard let number = Double(word) else { throw ToolError.wrongType(type) }
            try builder.real(number)
        case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64:
            guard let number = Int128(word) else { throw ToolError.wrongType(type) }
            try builder.integer(number)
        default: return value
        }
        return builder.finish()
    }
}

/// A word without a type, which is stored as a string although the value was something else.
enum BareWord {
    /// Says that the type of a value changes.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - current: The value that it replaces, if there is one.
    ///   - name: The key, or the path of the part.
    static func remark(on value: KeyedArchive, replacing current: KeyedArchive?, of name: String) {
        guard let before = (try? current?.shown()).flatMap({ try? ValueTypeName.name(of: $0) }),
            (try? ValueTypeName.name(of: value)) == "string", before != "string"
        else { return }
        Complaint.sayOnce(
            "The word is stored as a string, and the value of '\(name.inBrief)' had the type \(before). For "
                + "that type, give \(words[before] ?? "--json and the value").")
    }

    /// What gives a value each type.
    private static let words = [
        "boolean": "-bool and true or false", "integer": "-int and a number",
        "float": "-float and a number", "date": "-date and a date",
        "data": "-data and hexadecimal digits", "array": "-array and its elements",
        "dictionary": "-dict with its keys and values in turn", "object": "--json and the object",
    ]
}

/// Finds the type in a marker, if the whole value is one.
private struct MarkerType: PassiveSink {
    private var lastKey: Text?
    private var isMarker = false
    private(set) var type: ExactType?
    private(set) var hasValue = false

    mutating func beginDictionary() throws {
        // What is inside the value is not of interest.
        guard lastKey == nil else { throw RefusedValue() }
        lastKey = ""
    }

    mutating func beginArray() throws { throw RefusedValue() }

    mutating func key(_ key: Text) {
        lastKey = key
        if isMarker, key == "value" { hasValue = true }
    }

    mutating func string(_ value: Text) {
        switch lastKey {
        case "$class": isMarker = value == "GVariant"
        case "type" where isMarker: type = ExactType(value.description)
        default: break
        }
    }
}

/// Passes the value form on, and only the values of markers.
private struct MarkerRemoval<Sink: ValueFormSink>: ValueFormSink {
    private enum Place {
        /// A dictionary has begun, and it is not known whether it is a marker.
        case beginning
        /// The key `$class` has come.
        case className
        case dictionary
        case array
        /// A marker, whether its value comes next, and whether it has come.
        case marker(isValue: Bool, hasValue: Bool)
    }

    /// A marker has no value that could be passed on.
    struct NoValue: Error {}

    private(set) var sink: Sink
    private var places: [Place] = []

    init(into sink: Sink) { self.sink = sink }

    /// Passes on what was held back, because the dictionary is no marker.
    private mutating func release() throws {
        guard let last = places.last else { return }
        switch last {
        case .beginning: try sink.beginDictionary()
        case .className:
            try sink.beginDictionary()
            try sink.key("$class")
        default: return
        }
        places[places.count - 1] = .dictionary
    }

    /// Whether the next value is passed on: of a marker only its value is.
    private mutating func passes() throws -> Bool {
        try release()
        if case .marker(let isValue, _)? = places.last { return isValue }
        return true
    }

    mutating func null() throws { if try passes() { try sink.null() } }
    mutating func boolean(_ value: Bool) throws { if try passes() { try sink.boolean(value) } }
    mutating func integer(_ value: Int128) throws { if try passes() { try sink.integer(value) } }
    mutating func real(_ value: Double) throws { if try passes() { try sink.real(value) } }
    mutating func data(_ value: ArraySlice<UInt8>) throws {
        if try passes() { try sink.data(value) }
    }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws {
        if try passes() { try sink.bytes(value) }
    }
    mutating func date(_ secondsSince2001: Double) throws {
        if try passes() { try sink.date(secondsSince2001) }
    }
    mutating func reference(to uid: UInt64) throws {
        if try passes() { try sink.reference(to: uid) }
    }

    mutating func string(_ value: Text) throws {
        if case .className? = places.last, value == "GVariant" {
            places[places.count - 1] = .marker(isValue: false, hasValue: false)
        } else if try passes() {
            try sink.string(value)
        }
    }

    mutating func beginArray() throws {
        try release()
        places.append(.array)
        try sink.beginArray()
    }

    mutating func endArray() throws {
        places.removeLast()
        try sink.endArray()
    }

    mutating func beginDictionary() throws {
        try release()
        places.append(.beginning)
    }

    mutating func key(_ key: Text) throws {
        switch places.last {
        case .beginning where key == "$class": places[places.count - 1] = .className
        case .marker(_, let hasValue):
            let isValue = key == "value"
            places[places.count - 1] = .marker(isValue: isValue, hasValue: hasValue || isValue)
        default:
            try release()
            try sink.key(key)
        }
    }

    mutating func endDictionary() throws {
        if case .marker(_, let hasValue)? = places.last {
            guard hasValue else { throw NoValue() }
            places.removeLast()
        } else {
            try release()
            places.removeLast()
            try sink.endDictionary()
        }
    }
}
