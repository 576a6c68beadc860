/// A default value for the root of an archive, with the fields that the archive lacks.
struct Prototype {
    /// The type of the root.
    ///
    /// For an optional, its wrapped type.
    let type: Any.Type
    /// Makes the archive of the default value.
    let archive: () throws -> KeyedArchive?

    init(_ type: Any.Type, _ archive: @escaping () throws -> KeyedArchive?) {
        self.type = (type as? any AnyOptional.Type)?.wrapped ?? type
        self.archive = archive
    }
}

/// Finds the wrapped type of an optional at run time.
private protocol AnyOptional {
    static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

// MARK: Default values at the same place

extension ValueDecoder {
    /// The decoder of a default value with a field that this value lacks, and the field's place.
    func defaultField(_ name: String) -> (decoder: ValueDecoder, place: DecodingPlace)? {
        for decoder in defaultValues {
            guard (try? decoder.findEntries()) == true, let field = decoder.field(name) else {
                continue
            }
            return (decoder, decoder.session.resolve(field))
        }
        return nil
    }

    /// Decoders of the default values at this location: those inside the default values of the
    /// parents, and those of the type itself.
    func makeDefaultValues() -> [ValueDecoder] {
        guard !session.isDefaultValue else { return [] }
        let around =
            parent?.defaultValues.compactMap { defaultValue(in: $0) }
            ?? session.defaultRoot(type, key).map { [$0] } ?? []
        return around + defaultsOfType()
    }

    /// The part of a parent's default value at this location.
    private func defaultValue(in around: ValueDecoder) -> ValueDecoder? {
        let place: DecodingPlace?
        switch key {
        case .none: place = around.place
        case .name(let name):
            guard (try? around.findEntries()) == true else { return nil }
            place = around.field(name.stringValue).map(around.session.resolve)
        // Elements have no names. The first element of one list is unrelated to the first of
        // another.
        case .index: place = nil
        }
        return place.map { around.session.defaultDecoder($0, around, key, type) }
    }

    /// New values of the type: those that were set for it and its superclasses, and that of its
    /// `init()`.
    private func defaultsOfType() -> [ValueDecoder] {
        guard let type else { return [] }
        let prototypes = session.options.prototypes
        var made = type.facts.lineage.compactMap {
            prototypes[ObjectIdentifier($0.type)].flatMap { defaultOfType(type, $0) }
        }
        if let initializable = type.facts.defaultInitializable,
            let value = defaultOfType(
                type, { try KeyedArchiveEncoder().encode(initializable.init()) })
        {
            made.append(value)
        }
        return made
    }

    private func defaultOfType(
        _ type: DecodedType, _ archive: () throws -> KeyedArchive
    ) -> ValueDecoder? {
        // Making it costs more than the bytes in the archive that cause it.
        guard session.affords(DecodingSession.defaultValueCost), let archive = try? archive()
        else { return nil }
        let made = DecodingSession(session.options, defaultValue: archive, of: type.facts.type)
        return (try? made.root(nil)).map { made.defaultDecoder($0, nil, .none, type) }
    }
}

extension DecodingSession {
    /// The cost of a default value.
    fileprivate static let defaultValueCost = 64

    /// The root of the default value, made when it is first needed.
    fileprivate func defaultRoot(_ type: DecodedType?, _ key: DecodingLocation.Key) -> ValueDecoder?
    {
        guard let session = defaultSession, let place = try? session.root(nil) else { return nil }
        return session.defaultDecoder(place, nil, key, type)
    }

    /// A decoder in a default value, for a type that belongs to another session.
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
    /// Whether an object of another class is decoded as the root's type.
    ///
    /// The class name of a structure is not important, because the key says what the value is.
    /// ``checkForeignRoot()`` checks at the end whether the object fits.
    func takesForeignRoot(_ decoder: ValueDecoder) -> Bool {
        guard let prototype, let type = decoder.type else { return false }
        return !type.facts.isClass && type.facts.type == prototype.type && decoder.isRoot
    }

    /// Refuses an object of another class if the type has looked up none of its fields.
    ///
    /// Otherwise a value with only defaults would look like the stored one.
    func checkForeignRoot() throws {
        guard let foreignRoot, !foreignRoot.hasField, let entries = foreignRoot.entries else {
            return
        }
        let hasFields = (0..<entries.count).contains { entries.name(at: $0, in: self) != nil }
        if hasFields { throw noEntries(of: foreignRoot) }
    }
}
