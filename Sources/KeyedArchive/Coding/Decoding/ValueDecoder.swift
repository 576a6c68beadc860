internal import PropertyList

/// The decoder that a type is given: a value of the archive, and where it stands.
final class ValueDecoder: Decoder {
    let session: DecodingSession
    /// How many values there are around this one.
    let depth: Int
    let parent: ValueDecoder?
    private(set) var key: DecodingLocation.Key
    private(set) var place: DecodingPlace
    /// The type that is decoded, where it is known.
    let type: DecodedType?
    /// Whether the object's class has to fit the type.
    let checksClass: Bool
    /// What keyed containers read, once there was one.
    private(set) var entries: KeyedEntries?
    /// The same where these are the fields of an object.
    private(set) var fields: Fields?
    /// How many fields were asked for.
    var lookups = 0
    /// The fields of an object with many, by name, once it is needed.
    var positions: [Text: Int]?
    /// Whether a field that was asked for is here.
    private(set) var hasField = false
    /// What has the fields that this value lacks, once one was missing.
    private var knownDefaults: [ValueDecoder]?

    init(
        _ session: DecodingSession, _ place: DecodingPlace, _ location: DecodingLocation,
        type: DecodedType?, checksClass: Bool = true
    ) {
        self.session = session
        self.place = place
        parent = location.parent
        key = location.key
        self.type = type
        self.checksClass = checksClass
        depth = location.parent.map { $0.depth + 1 } ?? 0
    }

    /// Makes the decoder, which nobody else has any more, one for the next element.
    func reuse(for place: DecodingPlace, at index: Int) {
        self.place = place
        key = .index(index)
        entries = nil
        fields = nil
        lookups = 0
        positions = nil
        hasField = false
        knownDefaults = nil
    }

    /// Notes that the type and the value have a field in common.
    func noteField() { hasField = true }

    var location: DecodingLocation { DecodingLocation(parent: parent, key: key) }

    /// Whether this is the root, or the value that the root consists of.
    var isRoot: Bool {
        guard case .none = key else { return false }
        return parent?.isRoot ?? true
    }

    /// Decoders of the default values for this place, the first of which has a field that counts.
    var defaultValues: [ValueDecoder] {
        if let knownDefaults { return knownDefaults }
        let made = makeDefaultValues()
        knownDefaults = made
        return made
    }

    /// Whether the value is this object, or one of those around it is.
    func isInside(_ uid: UInt64) -> Bool {
        var next: ValueDecoder? = self
        while let decoder = next {
            if decoder.place.uid == uid { return true }
            next = decoder.parent
        }
        return false
    }

    var codingPath: [any CodingKey] { location.path }
    var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard try findEntries() else { throw session.noEntries(of: self) }
        return KeyedDecodingContainer(KeyedDecoding(decoder: self))
    }

    /// Finds what keyed containers read; false where the value has no such thing for the type.
    func findEntries() throws -> Bool {
        if entries != nil { return true }
        guard let entries = try session.entries(of: self) else { return false }
        if entries.style == .object { fields = place.fields }
        self.entries = entries
        return true
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let elements = try session.elements(of: place, location)
        return UnkeyedDecoding(decoder: self, elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleValueDecoding(decoder: self)
    }
}
