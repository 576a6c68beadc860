internal import PropertyList

/// The decoder that a type gets: a value of the archive, and its location.
final class ValueDecoder: Decoder {
    let session: DecodingSession
    /// How many values there are around this one.
    let depth: Int
    let parent: ValueDecoder?
    private(set) var key: DecodingLocation.Key
    private(set) var place: DecodingPlace
    /// The type that is decoded, if it is known.
    let type: DecodedType?
    /// Whether the object's class has to fit the type.
    let checksClass: Bool
    /// What keyed containers read, once there was one.
    private(set) var entries: KeyedEntries?
    /// The same if these are the fields of an object.
    private(set) var fields: Fields?
    /// How many fields were asked for.
    private var lookups = 0
    /// The fields of an object with many, by name, once it is needed.
    private var positions: [Text: Int]?
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

    /// Changes the decoder, which has no other owner, into one for the next element.
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
    private func noteField() { hasField = true }

    var location: DecodingLocation { DecodingLocation(parent: parent, key: key) }

    /// Whether this is the root, or the value that the root consists of.
    var isRoot: Bool {
        guard case .none = key else { return false }
        return parent?.isRoot ?? true
    }

    /// Decoders of the default values for this place.
    ///
    /// The first one with a field is used.
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

    /// Finds what keyed containers read; false if the value has no such thing for the type.
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

/// Finding fields by name: at the position in the last object of the type, otherwise by a search.
extension ValueDecoder {
    /// Up to this number, fields are searched one by one.
    private static let searchLimit = 16
    /// The prefix of the names of the fields of NSURL.
    private static let foundationPrefix = "NS."

    private var hasPrefix: Bool { type?.facts.foundation == .url }

    /// What a field is called for the type.
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

    /// Fields that were written without a key are called $0, $1 and so on.
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

    /// The positions of all fields, as they are spelled.
    private func numbered(_ entries: KeyedEntries) -> [Text: Int] {
        var positions: [Text: Int] = [:]
        for position in 0..<entries.count {
            guard let text = entries.key(at: position, in: session) else { continue }
            // The first of the same name counts.
            if positions[text] == nil { positions[text] = position }
        }
        return positions
    }
}
