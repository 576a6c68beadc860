internal import PropertyList

/// The fields of an object, or the entries of a dictionary, for a type that looks them up by name.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The decoder has the entries, because the container is copied for each call.
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        guard let entries = decoder.entries else { return [] }
        return (0..<entries.count).compactMap { position in
            guard let name = entries.name(at: position, in: decoder.session)?.string
            else { return nil }
            return Key(stringValue: decoder.strippingPrefix(of: name))
        }
    }

    func contains(_ key: Key) -> Bool {
        // If the budget is used up, nothing is found. The error is thrown when the field is
        // decoded.
        decoder.field(key.stringValue) != nil || decoder.session.isSpent
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let field = decoder.field(key.stringValue) else { throw try missing(key) }
        return decoder.session.isNil(decoder.session.resolve(field))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try scalar(key) { try $0.booleanField(at: $1, $2) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key) { try $0.string(at: $1, $2) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try scalar(key) { try $0.real(at: $1, $2) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try scalar(key) { try $0.singleReal(at: $1, $2) }
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        // The field of a generic type.
        if type == Bool.self, let value = try decode(Bool.self, forKey: key) as? Value {
            return value
        }
        return try value(key) { try $0.decode(type, at: $1, $2) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nestedDecoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nestedDecoder(key).unkeyedContainer()
    }

    /// The decoder for the superclass, whose fields are in the same object.
    func superDecoder() throws -> any Decoder { decoder }

    /// The decoder of a superclass that was encoded separately.
    ///
    /// A missing one is nil, which a superclass without fields can accept.
    func superDecoder(forKey key: Key) throws -> any Decoder {
        do {
            return try nestedDecoder(key)
        } catch DecodingError.keyNotFound {
            let nothing = DecodingPlace(index: decoder.place.index, uid: 0, value: .uid(0))
            return try decoder.session.decoder(at: nothing, location(key))
        }
    }
}

// MARK: Fields

extension KeyedDecoding {
    /// Decodes a field: that of the archive, or that of a default value.
    @inline(__always)
    private func value<Value>(
        _ key: Key, _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        guard let field = decoder.field(key.stringValue) else {
            return try defaultValue(key, decode)
        }
        return try decode(decoder.session, decoder.session.resolve(field), location(key))
    }

    @inline(never)
    private func defaultValue<Value>(
        _ key: Key, _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        try decoder.session.checkBudget(at: location(key))
        guard let (other, place) = decoder.defaultField(key.stringValue) else {
            throw try missing(key)
        }
        let location = DecodingLocation(parent: other, key: .name(key))
        return try decode(other.session, place, location)
    }

    /// The error for a missing field.
    ///
    /// It throws if the budget is used up.
    private func missing(_ key: Key) throws -> DecodingError {
        try decoder.session.checkBudget(at: location(key))
        return DecodingError.missingField(key, at: codingPath)
    }

    private func location(_ key: Key) -> DecodingLocation {
        DecodingLocation(parent: decoder, key: .name(key))
    }

    /// Decodes a field that costs no more than any value.
    @inline(__always)
    private func scalar<Value>(
        _ key: Key, _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        try value(key) { session, place, location in
            try session.spend(0, at: location)
            return try decode(session, place, location)
        }
    }

    private func nestedDecoder(_ key: Key) throws -> ValueDecoder {
        try value(key) { try $0.decoder(at: $1, $2) }
    }
}

// MARK: Integers

extension KeyedDecoding {
    @inline(__always)
    private func integer<Integer: FixedWidthInteger>(_ key: Key) throws -> Integer {
        try scalar(key) { try $0.integer(at: $1, $2) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }
}

/// The elements of an array or a set, one after the other.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: ValueDecoder
    let elements: Elements
    private(set) var currentIndex = 0

    init(decoder: ValueDecoder, elements: Elements) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try decoder.session.isNil(place(Any?.self)) else { return false }
        try decoder.session.spend(0, at: location)
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try scalar(type) { try $0.boolean(at: $1, $2) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { try $0.string(at: $1, $2) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try scalar(type) { try $0.real(at: $1, $2) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try scalar(type) { try $0.singleReal(at: $1, $2) }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.decode(type, at: $1, $2) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next([String: Any].self) { session, place, location in
            try session.decoder(at: place, location).container(keyedBy: type)
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([Any].self) { session, place, location in
            try session.decoder(at: place, location).unkeyedContainer()
        }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next((any Decoder).self) { try $0.decoder(at: $1, $2) }
    }
}

// MARK: Elements

extension UnkeyedDecoding {
    private var location: DecodingLocation {
        DecodingLocation(parent: decoder, key: .index(currentIndex))
    }

    private func place(_ type: Any.Type) throws -> DecodingPlace {
        guard !isAtEnd else {
            throw DecodingError.noMoreElements(type, count: elements.count, at: location.path)
        }
        let session = decoder.session
        return session.resolve(elements.element(currentIndex, in: session.list))
    }

    /// Decodes the next element.
    ///
    /// The position only moves on if this succeeds. `decode` pays for the element.
    @inline(__always)
    private mutating func next<Value>(
        _ type: Any.Type,
        _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        let value = try decode(decoder.session, place(type), location)
        currentIndex += 1
        return value
    }

    /// The same for an element that costs no more than any value.
    @inline(__always)
    private mutating func scalar<Value>(
        _ type: Value.Type,
        _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        try next(type) { session, place, location in
            try session.spend(0, at: location)
            return try decode(session, place, location)
        }
    }

    @inline(__always)
    private mutating func integer<Integer: FixedWidthInteger>() throws -> Integer {
        try scalar(Integer.self) { try $0.integer(at: $1, $2) }
    }
}

// MARK: Integers

extension UnkeyedDecoding {
    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
}

/// A value that is encoded as a single value.
struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.session.isNil(decoder.place) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try decoder.session.boolean(at: decoder.place, decoder.location)
    }

    func decode(_ type: String.Type) throws -> String {
        try decoder.session.string(at: decoder.place, decoder.location)
    }

    func decode(_ type: Double.Type) throws -> Double {
        try decoder.session.real(at: decoder.place, decoder.location)
    }

    func decode(_ type: Float.Type) throws -> Float {
        try decoder.session.singleReal(at: decoder.place, decoder.location)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let location = DecodingLocation(parent: decoder, key: .none)
        return try decoder.session.decode(type, at: decoder.place, location)
    }
}

// MARK: Integers

extension SingleValueDecoding {
    @inline(__always)
    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        try decoder.session.integer(at: decoder.place, decoder.location)
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
}
