internal import PropertyList

/// Values without parts.
extension DecodingSession {
    func boolean(at place: DecodingPlace, _ location: DecodingLocation) throws -> Bool {
        switch place.value {
        case .boolean(let value): return value
        // Foundation on Linux writes booleans as integers.
        case .integer(0): return false
        case .integer(1): return true
        default: throw mismatch(Bool.self, "a boolean", place, location)
        }
    }

    /// An integer of one of the standard types, for each of which this is compiled.
    @inline(__always)
    func integer<Integer: FixedWidthInteger>(
        at place: DecodingPlace, _ location: DecodingLocation
    ) throws -> Integer {
        let value: Integer?
        switch place.value {
        case .integer(let integer): value = Integer(exactly: integer)
        case .real(let real): value = Integer(exactly: real)
        case .singleReal(let real): value = Integer(exactly: real)
        default: throw mismatch(Integer.self, "an integer", place, location)
        }
        guard let value else {
            throw error(DecodingError.doesNotFit(Integer.self), place, location)
        }
        return value
    }

    func real(at place: DecodingPlace, _ location: DecodingLocation) throws -> Double {
        switch place.value {
        case .real(let real): return real
        case .singleReal(let real): return Double(real)
        case .integer(let integer):
            if let real = Double(exactly: integer) { return real }
            throw error(DecodingError.doesNotFit(Double.self), place, location)
        default: throw mismatch(Double.self, "a number", place, location)
        }
    }

    func singleReal(at place: DecodingPlace, _ location: DecodingLocation) throws -> Float {
        switch place.value {
        case .singleReal(let real): return real
        case .real(let real):
            let rounded = Float(real)
            if rounded.isFinite || !real.isFinite { return rounded }
        case .integer(let integer):
            if let real = Float(exactly: integer) { return real }
        default: throw mismatch(Float.self, "a number", place, location)
        }
        throw error(DecodingError.doesNotFit(Float.self), place, location)
    }

    func string(at place: DecodingPlace, _ location: DecodingLocation) throws -> String {
        if case .string(let range) = place.value {
            try spend(range.count, at: location)
            if let string = list.wellFormedString(of: range) { return string }
            throw error(DecodingError.unpairedSurrogate, place, location)
        }
        guard let text = stringObject(at: place) else {
            throw mismatch(String.self, "a string", place, location)
        }
        guard let string = text.string else {
            throw error(DecodingError.unpairedSurrogate, place, location)
        }
        return string
    }

    /// The bytes of data, inline or an object; nil where the value is something else.
    func data(at place: DecodingPlace, _ location: DecodingLocation) throws -> ArraySlice<UInt8>? {
        let range: PropertyList.DataRange
        if case .data(let inline) = place.value {
            range = inline
        } else {
            guard archivedClass(of: place)?.kind == .data, let fields = place.fields,
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
        place.isNil || archivedClass(of: place)?.kind == .null
    }

    /// The text of an object that is a string: in `NS.string`, or in `NS.bytes` in UTF-8.
    private func stringObject(at place: DecodingPlace) -> Text? {
        guard archivedClass(of: place)?.kind == .string, let fields = place.fields else {
            return nil
        }
        if let field = fields["NS.string", in: list],
            case .string(let range) = resolve(field).value
        {
            charge(range.count)
            return list.text(of: range)
        }
        guard let field = fields["NS.bytes", in: list],
            case .data(let range) = resolve(field).value
        else { return nil }
        charge(range.count)
        return String(validating: list.data(of: range), as: UTF8.self).map { Text($0) }
    }

    /// The text of a dictionary's key; nil where that is no string.
    func text(ofKey index: ObjectIndex) -> Text? {
        let place = resolve(index)
        guard case .string(let range) = place.value else { return stringObject(at: place) }
        charge(range.count)
        return list.text(of: range)
    }

    /// Whether a dictionary's key is this text.
    func isKey(_ index: ObjectIndex, _ name: String) -> Bool {
        let place = resolve(index)
        guard case .string = place.value else { return stringObject(at: place) == Text(name) }
        return list.isString(at: place.index, name)
    }
}
