internal import PropertyList

/// The entries of a keyed container: the fields of an object, or the entries of a dictionary.
struct KeyedEntries {
    enum Style {
        /// Names that begin with a dollar sign have a second one before it.
        ///
        /// `$class` is not a name.
        case object
        /// An inline property list dictionary.
        case inline
        /// The keys are objects themselves.
        case pairs
    }

    let style: Style
    let keys: Elements
    let values: Elements

    var count: Int { keys.count }

    func value(at position: Int, in list: PropertyList) -> ObjectIndex {
        values.element(position, in: list)
    }

    /// Whether the key at a position is this name, in the spelling of the archive.
    func isKey(at position: Int, _ name: String, in session: DecodingSession) -> Bool {
        let key = keys.element(position, in: session.list)
        return style == .pairs ? session.isKey(key, name) : session.list.isString(at: key, name)
    }

    /// The spelling of a name in the archive.
    func spelling(of name: String) -> String {
        style == .object && name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
    }

    /// The key at a position, in the spelling of the archive; nil if it is not a string.
    func key(at position: Int, in session: DecodingSession) -> Text? {
        session.text(ofKey: keys.element(position, in: session.list))
    }

    /// The name at a position; nil if it is not a string, or if it is `$class`.
    func name(at position: Int, in session: DecodingSession) -> Text? {
        guard let key = key(at: position, in: session) else { return nil }
        guard style == .object, key.hasPrefix("$") else { return key }
        if key == "$class" { return nil }
        guard key.hasPrefix("$$"), let string = key.string else { return key }
        return Text(String(string.dropFirst()))
    }
}

// MARK: Finding the entries

extension DecodingSession {
    /// The fields of a decoder's object, or the entries of its dictionary; nil if the value has
    /// neither, or if its class does not fit the type.
    func entries(of decoder: ValueDecoder) throws -> KeyedEntries? {
        let place = decoder.place
        guard let fields = place.fields else { return nil }
        let keys = Elements.references(fields.keys)
        let values = Elements.references(fields.values)
        guard place.uid != 0 else {
            try spend(fields.count, at: decoder.location)
            return KeyedEntries(style: .inline, keys: keys, values: values)
        }
        guard let archived = archivedClass(of: place) else { return nil }
        let type = decoder.checksClass ? decoder.type : nil
        if let type, !fits(archived, type) {
            let isForeignRoot = takesForeignRoot(decoder)
            if isForeignRoot { foreignRoot = decoder }
            if archived.known == .dictionary { return pairs(of: fields, archived) }
            guard isForeignRoot, archived.known == nil else { return nil }
        }
        // Otherwise a type that accepts everything would find a dictionary in each array.
        if type == nil, archived.known?.hasElements == true { return nil }
        if type == nil, archived.known == .dictionary, let pairs = pairs(of: fields, archived) {
            return pairs
        }
        return KeyedEntries(style: .object, keys: keys, values: values)
    }

    /// The error if a value has no fields or entries.
    func noEntries(of decoder: ValueDecoder) -> DecodingError {
        let (place, location) = (decoder.place, decoder.location)
        guard decoder.checksClass, let type = decoder.type, let archived = archivedClass(of: place)
        else {
            return mismatch([String: Any].self, "an object with fields", place, location)
        }
        let problem = DecodingError.otherClass(className(archived), type: type.facts)
        return error(problem, place, location)
    }

    /// The keys and values of a dictionary object.
    func pairs(of fields: Fields, _ archived: ArchivedClass) -> KeyedEntries? {
        let (keys, values): (Elements, Elements)
        if let first = fields["NS.keys", in: list], let second = fields["NS.objects", in: list] {
            guard case .array(let keyReferences) = list.value(at: first),
                case .array(let valueReferences) = list.value(at: second),
                keyReferences.count == valueReferences.count
            else { return nil }
            (keys, values) = (.references(keyReferences), .references(valueReferences))
        } else {
            // In this case the name of each field is read.
            guard affords(fields.count * Self.valueCost),
                case .dictionary(let numbered, let others) = archive.form(of: fields)
            else { return nil }
            (keys, values) = (numbered, others)
        }
        return KeyedEntries(style: .pairs, keys: keys, values: values)
    }

    /// The elements of an array or a set.
    func elements(of place: DecodingPlace, _ location: DecodingLocation) throws -> Elements {
        switch place.value {
        case .array(let elements), .set(let elements), .orderedSet(let elements):
            return .references(elements)
        case .dictionary(let keys, let values):
            guard let archived = archivedClass(of: place), archived.known?.hasElements == true
            else { break }
            let fields = Fields(keys: keys, values: values)
            if let objects = fields["NS.objects", in: list],
                case .array(let elements) = list.value(at: objects)
            {
                return .references(elements)
            }
            // In this case the name of each field is read.
            try spend(fields.count * Self.valueCost, at: location)
            switch archive.form(of: fields) {
            case .array(let elements), .set(let elements, _): return elements
            default: break
            }
        default:
            break
        }
        throw mismatch([Any].self, "an array", place, location)
    }
}
