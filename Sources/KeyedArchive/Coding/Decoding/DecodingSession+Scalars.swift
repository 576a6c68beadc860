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
        let text: Text
        switch place.value {
        case .string(let range):
            try spend(range.count, at: location)
            text = list.text(of: range)
        case .dictionary(let keys, let values):
            guard let archived = archivedClass(of: place), archived.kind == .string,
                case .string(let form) = archive.form(of: Fields(keys: keys, values: values))
            else { fallthrough }
            try spend(form.byteCount, at: location)
            text = form
        default:
            throw mismatch(String.self, "a string", place, location)
        }
        guard let string = text.string else {
            throw error(DecodingError.unpairedSurrogate, place, location)
        }
        return string
    }

    /// The bytes of data, inline or an object; nil where the value is something else.
    func data(at place: DecodingPlace, _ location: DecodingLocation) throws -> ArraySlice<UInt8>? {
        switch place.value {
        case .data(let range):
            try spend(range.count, at: location)
            return list.data(of: range)
        case .dictionary(let keys, let values):
            guard let archived = archivedClass(of: place), archived.kind == .data,
                case .data(let data) = archive.form(of: Fields(keys: keys, values: values))
            else { return nil }
            try spend(data.count, at: location)
            return data
        default:
            return nil
        }
    }
}
