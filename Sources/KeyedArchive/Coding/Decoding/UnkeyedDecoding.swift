internal import PropertyList

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

    /// What is made of the next element, which is only passed when that goes well, and which
    /// `decode` pays for.
    @inline(__always)
    private mutating func next<Value>(
        _ type: Any.Type,
        _ decode: (DecodingSession, DecodingPlace, DecodingLocation) throws -> Value
    ) throws -> Value {
        let value = try decode(decoder.session, place(type), location)
        currentIndex += 1
        return value
    }

    /// The same for what costs no more than any value.
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
