internal import PropertyList

/// The decoder that a type is given: a value of the archive, and where it stands.
final class ValueDecoder: Decoder {
    let session: DecodingSession
    /// How many values there are around this one.
    let depth: Int
    private(set) var location: DecodingLocation
    private(set) var place: DecodingPlace
    /// The type that is decoded, where it is known.
    let type: DecodedType?
    /// Whether the object's class has to fit the type.
    let checksClass: Bool
    /// How many fields were asked for.
    var lookups = 0
    /// The fields of an object with many, by name, once it is needed.
    var positions: [Text: Int]?

    init(
        _ session: DecodingSession, _ place: DecodingPlace, _ location: DecodingLocation,
        type: DecodedType?, checksClass: Bool = true
    ) {
        self.session = session
        self.place = place
        self.location = location
        self.type = type
        self.checksClass = checksClass
        depth = location.parent.map { $0.depth + 1 } ?? 0
    }

    /// Makes the decoder, which nobody else has any more, one for the next element.
    func reuse(for place: DecodingPlace, at index: Int) {
        self.place = place
        location = DecodingLocation(parent: location.parent, key: .index(index))
        lookups = 0
        positions = nil
    }

    var codingPath: [any CodingKey] { location.path }
    var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let entries = try session.entries(of: self)
        return KeyedDecodingContainer(KeyedDecoding(decoder: self, entries: entries))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let elements = try session.elements(of: place, location)
        return UnkeyedDecoding(decoder: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleValueDecoding(decoder: self)
    }
}
