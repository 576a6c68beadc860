internal import PropertyList

/// The decoder that a type receives: a value of the archive, and its location.
final class ValueDecoder: Decoder {
    let session: DecodingSession
    /// How many values are around this one.
    let depth: Int
    let parent: ValueDecoder?
    private(set) var key: DecodingLocation.Key
    private(set) var place: DecodingPlace
    /// The type that is decoded, if it is known.
    let type: DecodedType?
    /// Whether the object's class must fit the type.
    let checksClass: Bool
    /// The entries of keyed containers, after the first lookup.
    private(set) var entries: KeyedEntries?
    /// The same, if they are the fields of an object.
    private(set) var fields: Fields?
    /// How many fields were looked up.
    private var lookups = 0
    /// The fields of a large object by name, when this is needed.
    private var positions: [Text: Int]?
    /// Whether a field that was looked up exists.
    private(set) var hasField = false
    /// The default values with missing fields, after the first missing field.
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

    /// Reuses the decoder, which must not have another owner, for the next element.
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

    /// Notes that the value has a field of the type.
    private func noteField() { hasField = true }

    var location: DecodingLocation { DecodingLocation(parent: parent, key: key) }

    /// Whether this is the root, or the only content of the root.
    var isRoot: Bool {
        guard case .none = key else { return false }
        return parent?.isRoot ?? true
    }

    /// Decoders of the default values at this location.
    ///
    /// The first one with a field is used.
    var defaultValues: [ValueDecoder] {
        if let knownDefaults { return knownDefaults }
        let made = makeDefaultValues()
        knownDefaults = made
        return made
    }

    /// Whether this object, or one around it, has this UID.
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

    /// Finds the entries for keyed containers; false if the value has none for the type.
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

/// Finds fields by name: first at their position in the last object of the type, then with a
/// search.
extension ValueDecoder {
    /// Up to this number, fields are searched linearly.
    private static let searchLimit = 16
    /// The prefix of the field names of NSURL.
    private static let foundationPrefix = "NS."

    private var hasPrefix: Bool { type?.facts.foundation == .url }

    /// The name of a field as the type knows it.
    func strippingPrefix(of name: String) -> String {
        guard hasPrefix, name.hasPrefix(Self.foundationPrefix) else { return name }
        return String(name.dropFirst(Self.foundationPrefix.utf8.count))
    }

    /// The value of the field of this name, if there is one.
    func field(_ name: String) -> ObjectIndex? {
        let lookup = lookups
        lookups += 1
        guard let type, let fields else {
            guard let entries, let position = search(name, in: entries) else { return nil }
            return entries.value(at: position, in: session.list)
        }
        if lookup < type.answers.count {
            let (position, key) = (type.answers[lookup].position, type.answers[lookup].key)
            if position < fields.count, type.answers[lookup].name.isSame(as: name),
                session.element(position, of: fields.keys) == key
            {
                return session.element(position, of: fields.values)
            }
        }
        guard let entries, let position = search(name, in: entries) else { return nil }
        let key = session.element(position, of: fields.keys)
        let answer = DecodedType.Answer(name: FieldName(name), key: key, position: position)
        if lookup < type.answers.count {
            type.answers[lookup] = answer
        } else if lookup == type.answers.count {
            type.answers.append(answer)
        }
        return session.element(position, of: fields.values)
    }

    private func search(_ name: String, in entries: KeyedEntries) -> Int? {
        let spelling = entries.spelling(of: hasPrefix ? Self.foundationPrefix + name : name)
        let found = position(of: spelling, in: entries) ?? unnumbered(name, spelling, in: entries)
        if found != nil { noteField() }
        return found
    }

    /// Fields that were written without a key are named $0, $1 and so on.
    private func unnumbered(_ name: String, _ spelling: String, in entries: KeyedEntries) -> Int? {
        guard spelling.utf8.starts(with: "$$".utf8), name != "$class" else { return nil }
        return position(of: name, in: entries)
    }

    private func position(of name: String, in entries: KeyedEntries) -> Int? {
        guard entries.count > Self.searchLimit else {
            return (0..<entries.count).first {
                entries.isKey(at: $0, name, in: session)
            }
        }
        if positions == nil { positions = numbered(entries) }
        return positions?[Text(name)]
    }

    /// The positions of all fields, by their spelling in the archive.
    private func numbered(_ entries: KeyedEntries) -> [Text: Int] {
        var positions: [Text: Int] = [:]
        for position in 0..<entries.count {
            guard let text = entries.key(at: position, in: session) else { continue }
            // If a name is repeated, the first one counts.
            if positions[text] == nil { positions[text] = position }
        }
        return positions
    }
}
