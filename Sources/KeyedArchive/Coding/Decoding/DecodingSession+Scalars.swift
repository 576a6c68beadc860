internal import PropertyList

/// Values without parts.
extension DecodingSession {
    func boolean(at place: DecodingPlace, _ location: DecodingLocation) throws -> Bool {
        guard let value = place.value.asBoolean else {
            throw mismatch(Bool.self, "a boolean", place, location)
        }
        return value
    }

    /// An integer of one of the standard types, for each of which this is compiled.
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
        // Most strings are no objects.
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

    /// The bytes of data, inline or an object; nil where the value is something else.
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

    /// Whether a value is nil, or the object that stands for nil in collections.
    func isNil(_ place: DecodingPlace) -> Bool {
        place.isNil || archivedClass(of: place)?.known == .null
    }

    /// What holds the text of a string: it itself; or of an object that is one the string in
    /// `NS.string`, or the data in `NS.bytes`, which is UTF-8.
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

    /// The text of a dictionary's key; nil where that is no string.
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

    /// Whether a dictionary's key is this text; only what is as long is read.
    func isKey(_ index: ObjectIndex, _ name: String) -> Bool {
        guard let content = content(ofString: resolve(index)) else { return false }
        guard case .data(let range) = content.value else {
            return list.isString(at: content.index, name)
        }
        return range.count == name.utf8.count && list.data(of: range).elementsEqual(name.utf8)
    }
}

extension PropertyList {
    /// The text that data is in UTF-8, or nil where it is none.
    fileprivate func utf8String(of range: DataRange) -> String? {
        String(validating: data(of: range), as: UTF8.self)
    }
}
