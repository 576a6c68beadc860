internal import PropertyList

/// Values without elements or fields.
extension DecodingSession {
    /// A boolean.
    ///
    /// A type that tries one type after another, as those for any JSON value do, must not take a
    /// number for a boolean.
    func boolean(at place: DecodingPlace, _ location: DecodingLocation) throws -> Bool {
        guard case .boolean(let value) = place.value else {
            throw mismatch(Bool.self, "a boolean", place, location)
        }
        return value
    }

    /// The boolean in a field, which is declared as one.
    ///
    /// Foundation on Linux writes it as an integer, and so do programs that import property lists.
    func booleanField(at place: DecodingPlace, _ location: DecodingLocation) throws -> Bool {
        guard let value = place.value.asBoolean else {
            throw mismatch(Bool.self, "a boolean", place, location)
        }
        return value
    }

    /// An integer of a standard type.
    ///
    /// It is compiled for each of them.
    @inline(__always)
    func integer<Integer: FixedWidthInteger>(
        at place: DecodingPlace, _ location: DecodingLocation
    ) throws -> Integer {
        try number(place.value.asInteger(), "an integer", place, location)
    }

    func real(at place: DecodingPlace, _ location: DecodingLocation) throws -> Double {
        try number(place.value.asReal, "a number", place, location)
    }

    func singleReal(at place: DecodingPlace, _ location: DecodingLocation) throws -> Float {
        try number(place.value.asSingleReal, "a number", place, location)
    }

    @inline(__always)
    private func number<Number>(
        _ reading: NumberReading<Number>, _ need: StaticString, _ place: DecodingPlace,
        _ location: DecodingLocation
    ) throws -> Number {
        switch reading {
        case .number(let number): return number
        case .doesNotFit: throw error(DecodingError.doesNotFit(Number.self), place, location)
        case .notNumber: throw mismatch(Number.self, need, place, location)
        }
    }

    func string(at place: DecodingPlace, _ location: DecodingLocation) throws -> String {
        // Most strings are not objects.
        let content = if case .string = place.value { place } else { content(ofString: place) }
        switch content?.value {
        case .string(let range):
            try spend(range.count, at: location)
            if let string = list.wellFormedString(of: range) { return string }
            throw error(DecodingError.unpairedSurrogate, place, location)
        case .data(let range):
            try spend(range.count, at: location)
            if let string = list.utf8String(of: range) { return string }
        default: break
        }
        throw mismatch(String.self, "a string", place, location)
    }

    /// The bytes of data, inline or an object; nil if the value is something else.
    func data(at place: DecodingPlace, _ location: DecodingLocation) throws -> ArraySlice<UInt8>? {
        let range: PropertyList.DataRange
        if case .data(let inline) = place.value {
            range = inline
        } else {
            guard archivedClass(of: place)?.known == .data, let fields = place.fields,
                let field = fields["NS.data", in: list] ?? fields["NS.bytes", in: list],
                case .data(let stored) = resolve(field).value
            else { return nil }
            range = stored
        }
        try spend(range.count, at: location)
        return list.data(of: range)
    }

    /// Whether a value is nil, or the object that means nil in collections.
    func isNil(_ place: DecodingPlace) -> Bool {
        place.isNil || archivedClass(of: place)?.known == .null
    }

    /// The text of a string: the value itself, or for a string object the string in `NS.string` or
    /// the data in `NS.bytes`, which is UTF-8.
    private func content(ofString place: DecodingPlace) -> DecodingPlace? {
        if case .string = place.value { return place }
        guard archivedClass(of: place)?.known == .string, let fields = place.fields else {
            return nil
        }
        if let field = fields["NS.string", in: list] {
            let content = resolve(field)
            if case .string = content.value { return content }
        }
        return fields["NS.bytes", in: list].map(resolve)
    }

    /// The text of a dictionary's key; nil if that is not a string.
    func text(ofKey index: ObjectIndex) -> Text? {
        switch content(ofString: resolve(index))?.value {
        case .string(let range):
            guard affords(range.count + Self.valueCost) else { return nil }
            return list.text(of: range)
        case .data(let range):
            guard affords(range.count + Self.valueCost) else { return nil }
            return list.utf8String(of: range).map { Text($0) }
        default: return nil
        }
    }

    /// Whether a dictionary's key is this text.
    ///
    /// The text is only read if its length is equal.
    func isKey(_ index: ObjectIndex, _ name: String) -> Bool {
        guard let content = content(ofString: resolve(index)) else { return false }
        guard case .data(let range) = content.value else {
            return list.isString(at: content.index, name)
        }
        return range.count == name.utf8.count && list.data(of: range).elementsEqual(name.utf8)
    }
}

extension PropertyList {
    /// The text of data in UTF-8, or nil if it is not UTF-8.
    fileprivate func utf8String(of range: DataRange) -> String? {
        String(validating: data(of: range), as: UTF8.self)
    }
}

/// Foundation's types.
///
/// Foundation is not imported, so the contents of the NS classes are converted to the form in which
/// these types encode themselves.
extension DecodingSession {
    func decode<Value: Decodable>(
        _: Value.Type, as foundation: TypeFacts.Foundation, _ type: DecodedType,
        at place: DecodingPlace, _ location: DecodingLocation
    ) throws -> Value {
        switch foundation {
        case .data:
            guard let bytes = type.facts.bytes else { break }
            guard let data = try data(at: place, location) else {
                throw mismatch(Value.self, "data", place, location)
            }
            if let value = make(bytes, of: data) as? Value { return value }
        case .date:
            let seconds = try secondsSince2001(at: place, location)
            let real = DecodingPlace(index: place.index, uid: place.uid, value: .real(seconds))
            return try Value(from: ValueDecoder(self, real, location, type: type))
        case .uuid:
            if case .string = place.value { break }
            guard let text = try uuid(at: place, location) else {
                throw mismatch(Value.self, "a UUID", place, location)
            }
            return try Value(from: TextDecoder(text: text, at: location, in: self))
        case .url:
            guard archivedClass(of: place)?.known == .url else {
                // In JSON, people write a URL as a string.
                if case .string = place.value, let url = try url(Value.self, at: place, location) {
                    return url
                }
                throw mismatch(Value.self, "a URL", place, location)
            }
            guard urlCount(around: location) <= Self.urlBaseLimit else {
                throw error(DecodingError.tooManyBases(limit: Self.urlBaseLimit), place, location)
            }
        }
        return try Value(from: ValueDecoder(self, place, location, type: type))
    }

    /// The URL that a string spells; nil if it is not a URL.
    private func url<Value: Decodable>(
        _: Value.Type, at place: DecodingPlace, _ location: DecodingLocation
    ) throws -> Value? {
        let text = try string(at: place, location)
        // In Foundation, an empty string is not a URL.
        guard !text.isEmpty else { return nil }
        var builder = ValueFormBuilder()
        try builder.beginDictionary()
        try builder.key("$class")
        try builder.string("NSURL")
        try builder.key("NS.base")
        try builder.null()
        try builder.key("NS.relative")
        try builder.string(Text(text))
        try builder.endDictionary()
        return try? KeyedArchiveDecoder().decode(Value.self, from: builder.finish())
    }

    /// The most bases that a URL may have in a chain.
    ///
    /// Each step combines all of them.
    private static let urlBaseLimit = 16

    /// The length of the chain of bases that this URL belongs to.
    private func urlCount(around location: DecodingLocation) -> Int {
        var count = 0
        var next = location.parent
        while let decoder = next, decoder.type?.facts.foundation == .url {
            count += 1
            next = decoder.parent
        }
        return count
    }

    private func make<Bytes: RangeReplaceableCollection<UInt8>>(
        _: Bytes.Type, of data: ArraySlice<UInt8>
    ) -> Any {
        Bytes(data)
    }

    private func secondsSince2001(
        at place: DecodingPlace, _ location: DecodingLocation
    ) throws -> Double {
        if case .date(let seconds) = place.value { return seconds }
        guard archivedClass(of: place)?.known == .date,
            let field = place.fields?["NS.time", in: list]
        else { throw mismatch(Double.self, "a date", place, location) }
        return try real(at: resolve(field), location)
    }

    /// The text of a UUID; nil if the value is not a UUID.
    private func uuid(at place: DecodingPlace, _ location: DecodingLocation) throws -> String? {
        guard archivedClass(of: place)?.known == .uuid,
            let field = place.fields?["NS.uuidbytes", in: list],
            let bytes = try data(at: resolve(field), location)
        else { return nil }
        return UUIDText.text(bytes)
    }
}

/// A decoder for a string that is not in the archive in this form.
private struct TextDecoder: Decoder, SingleValueDecodingContainer {
    let text: String
    let location: DecodingLocation
    let session: DecodingSession

    init(text: String, at location: DecodingLocation, in session: DecodingSession) {
        self.text = text
        self.location = location
        self.session = session
    }

    var codingPath: [any CodingKey] { location.path }
    var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw DecodingError.onlyString([String: Any].self, at: codingPath)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.onlyString([Any].self, at: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }

    func decode(_ type: String.Type) throws -> String { text }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let text = text as? Value { return text }
        throw DecodingError.onlyString(type, at: codingPath)
    }
}
