internal import PropertyList

/// A collection that is decoded as a whole.
protocol DecodedCollection {
    /// Decodes the collection.
    ///
    /// `Value` is the type of the collection.
    static func decode<Value>(
        as: Value.Type, at place: DecodingPlace, _ location: DecodingLocation,
        in session: DecodingSession
    ) throws -> Value
}

extension DecodedCollection {
    /// The decoded collection as the caller's type.
    fileprivate static func cast<Value>(_ collection: some Any) -> Value {
        guard let value = collection as? Value else {
            preconditionFailure("A collection was decoded as another type.")
        }
        return value
    }
}

extension Array: DecodedCollection where Element: Decodable {
    static func decode<Value>(
        as: Value.Type, at place: DecodingPlace, _ location: DecodingLocation,
        in session: DecodingSession
    ) throws -> Value {
        // The types are compared first: a cast of an empty array succeeds whatever its elements.
        if Element.self == UInt8.self, let data = try session.data(at: place, location) {
            return cast(Array<UInt8>(data))
        }
        let elements = try session.elements(of: place, location)
        if Element.self == String.self {
            return cast(try session.strings(elements, of: place, location))
        }
        return cast(try session.decode(Element.self, elements, of: place, location))
    }
}

extension Set: DecodedCollection where Element: Decodable {
    static func decode<Value>(
        as: Value.Type, at place: DecodingPlace, _ location: DecodingLocation,
        in session: DecodingSession
    ) throws -> Value {
        let elements = try session.elements(of: place, location)
        return cast(Set(try session.decode(Element.self, elements, of: place, location)))
    }
}

extension Dictionary: DecodedCollection where Key: Decodable, Value: Decodable {
    static func decode<Result>(
        as: Result.Type, at place: DecodingPlace, _ location: DecodingLocation,
        in session: DecodingSession
    ) throws -> Result {
        let decoder = ValueDecoder(session, place, location, type: nil)
        guard try decoder.findEntries(), let entries = decoder.entries else {
            throw session.noEntries(of: decoder)
        }
        let list = session.list
        var result: [Key: Value] = [:]
        for position in 0..<entries.count {
            let (key, pathKey): (Key, DecodingLocation.Key)
            if Key.self == String.self {
                guard let text = entries.name(at: position, in: session) else {
                    try session.checkBudget(at: location)
                    // The class of an object is not one of its fields.
                    if entries.style == .object { continue }
                    throw session.keyIsNoString(place, location)
                }
                guard let name = text.string else {
                    throw session.error(DecodingError.unpairedSurrogate, place, location)
                }
                (key, pathKey) = (cast(name), .name(PathKey.name(name)))
            } else {
                guard entries.style != .object else {
                    throw session.mismatch(Result.self, "a dictionary", place, location)
                }
                pathKey = .index(position)
                let keyPlace = session.resolve(entries.keys.element(position, in: list))
                let keyLocation = DecodingLocation(parent: decoder, key: pathKey)
                key = try session.decode(Key.self, at: keyPlace, keyLocation)
            }
            let valuePlace = session.resolve(entries.value(at: position, in: list))
            let valueLocation = DecodingLocation(parent: decoder, key: pathKey)
            let value = try session.decode(Value.self, at: valuePlace, valueLocation)
            guard result.updateValue(value, forKey: key) == nil else {
                throw session.duplicateKey(place, valueLocation)
            }
        }
        return cast(result)
    }
}

// MARK: Elements

extension DecodingSession {
    /// The most elements for which memory is reserved at once.
    ///
    /// An archive can claim far more than it has.
    private static let usualCount = 4096

    fileprivate func decode<Element: Decodable>(
        _: Element.Type, _ elements: Elements, of place: DecodingPlace,
        _ location: DecodingLocation
    ) throws -> [Element] {
        let array = ValueDecoder(self, place, location, type: nil)
        let count = elements.count
        var result: [Element] = []
        result.reserveCapacity(min(count, Self.usualCount))
        let type = decodedType(Element.self)
        guard type.isPlain, count > 0 else {
            for position in 0..<count {
                let element = resolve(elements.element(position, in: list))
                let around = DecodingLocation(parent: array, key: .index(position))
                result.append(try decode(Element.self, at: element, around))
            }
            return result
        }
        // One decoder is reused for all elements that do not keep it.
        var decoder: ValueDecoder?
        for position in 0..<count {
            let element = resolve(elements.element(position, in: list))
            let around = DecodingLocation(parent: array, key: .index(position))
            try spend(0, at: around)
            try checkNesting(of: element, around)
            if isKnownUniquelyReferenced(&decoder) {
                decoder?.reuse(for: element, at: position)
            } else {
                decoder = ValueDecoder(self, element, around, type: type)
            }
            guard let decoder else { break }
            result.append(try Element(from: decoder))
        }
        return result
    }

    fileprivate func strings(
        _ elements: Elements, of place: DecodingPlace, _ location: DecodingLocation
    ) throws -> [String] {
        var result: [String] = []
        result.reserveCapacity(min(elements.count, Self.usualCount))
        for position in 0..<elements.count {
            let element = resolve(elements.element(position, in: list))
            if case .string(let range) = element.value {
                try spend(range.count, at: location)
                if let string = list.wellFormedString(of: range) {
                    result.append(string)
                    continue
                }
            }
            // An object, or an error, needs its location.
            let array = ValueDecoder(self, place, location, type: nil)
            let around = DecodingLocation(parent: array, key: .index(position))
            result.append(try string(at: element, around))
        }
        return result
    }

    fileprivate func keyIsNoString(
        _ place: DecodingPlace, _ location: DecodingLocation
    ) -> DecodingError {
        error(DecodingError.keyIsNoString, place, location)
    }

    fileprivate func duplicateKey(
        _ place: DecodingPlace, _ location: DecodingLocation
    ) -> DecodingError {
        error(DecodingError.duplicateKey, place, location)
    }
}
