/// A default value of the type of an archive's root, for the fields that the archive lacks.
struct Prototype {
    /// The type of the root; that of the value if it is an optional.
    let type: Any.Type
    /// Makes the archive of the default value.
    let archive: () throws -> KeyedArchive?

    init(_ type: Any.Type, _ archive: @escaping () throws -> KeyedArchive?) {
        self.type = (type as? any AnyOptional.Type)?.wrapped ?? type
        self.archive = archive
    }
}

/// Gives the wrapped type of an optional at run time.
private protocol AnyOptional {
    static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

// MARK: Default values at the same place

extension ValueDecoder {
    /// The decoder of a default value that has a field which this one lacks, and the field's place.
    func defaultField(_ name: String) -> (decoder: ValueDecoder, place: DecodingPlace)? {
        for decoder in defaultValues {
            guard (try? decoder.findEntries()) == true, let field = decoder.field(name) else {
                continue
            }
            return (decoder, decoder.session.resolve(field))
        }
        return nil
    }

    /// Decoders of the default values for this place: in those of the values around it, and the
    /// type's own.
    func makeDefaultValues() -> [ValueDecoder] {
        guard !session.isDefaultValue else { return [] }
        let around =
            parent?.defaultValues.compactMap { defaultValue(in: $0) }
            ?? session.defaultRoot(type, key).map { [$0] } ?? []
        return around + (defaultOfType().map { [$0] } ?? [])
    }

    /// What a default value around this place has at the place.
    private func defaultValue(in around: ValueDecoder) -> ValueDecoder? {
        let place: DecodingPlace?
        switch key {
        case .none: place = around.place
        case .name(let name):
            guard (try? around.findEntries()) == true else { return nil }
            place = around.field(name).map(around.session.resolve)
        // Elements have no names: the first of one list is not the first of another.
        case .index: place = nil
        }
        return place.map { around.session.defaultDecoder($0, around, key, type) }
    }

    /// A new value of the type.
    private func defaultOfType() -> ValueDecoder? {
        // Making it costs more than the bytes of the archive that cause it.
        guard let type, let initializable = type.facts.defaultInitializable,
            session.affords(DecodingSession.defaultValueCost),
            let archive = try? KeyedArchiveEncoder().encode(initializable.init()),
            case let made = DecodingSession(session.options, defaultValue: archive, of: nil),
            let place = try? made.root(nil)
        else { return nil }
        return made.defaultDecoder(place, nil, .none, type)
    }
}

extension DecodingSession {
    /// What a default value costs.
    fileprivate static let defaultValueCost = 64

    /// The root of the default value, made when it is first needed.
    fileprivate func defaultRoot(_ type: DecodedType?, _ key: DecodingLocation.Key) -> ValueDecoder?
    {
        guard let session = defaultSession, let place = try? session.root(nil) else { return nil }
        return session.defaultDecoder(place, nil, key, type)
    }

    /// A decoder in a default value, for a type that is known in another session.
    fileprivate func defaultDecoder(
        _ place: DecodingPlace, _ parent: ValueDecoder?, _ key: DecodingLocation.Key,
        _ type: DecodedType?
    ) -> ValueDecoder {
        // The encoder may use another name for the root's class than the decoder.
        let isRootType = type?.facts.type == prototypeType
        return ValueDecoder(
            self, place, DecodingLocation(parent: parent, key: key),
            type: type.map { decodedType($0.facts.type) }, checksClass: !isRootType)
    }
}

// MARK: Objects of other classes

extension DecodingSession {
    /// Whether the fields of an object of another class are those of the root's type.
    ///
    /// The name of a structure matters little, because the key says what the value is.
    /// ``checkForeignRoot()`` checks at the end whether it is one.
    func takesForeignRoot(_ decoder: ValueDecoder) -> Bool {
        guard let prototype, let type = decoder.type else { return false }
        return !type.facts.isClass && type.facts.type == prototype.type && decoder.isRoot
    }

    /// Refuses an object of another class if the type has asked for none of its fields.
    ///
    /// Otherwise a value with only defaults would be taken for what was stored.
    func checkForeignRoot() throws {
        guard let foreignRoot, !foreignRoot.hasField, let entries = foreignRoot.entries else {
            return
        }
        let hasFields = (0..<entries.count).contains { entries.name(at: $0, in: self) != nil }
        if hasFields { throw noEntries(of: foreignRoot) }
    }
}
