internal import PropertyList

/// A value of the archive, with references resolved.
struct DecodingPlace {
    /// The object of the property list.
    let index: ObjectIndex
    /// The object's UID; 0 if it is inline.
    let uid: UInt64
    /// The object's value.
    ///
    /// It is a UID only if it is nil.
    let value: PropertyList.Value

    /// Whether it has elements or fields.
    var isCollection: Bool {
        switch value {
        case .array, .set, .orderedSet, .dictionary: true
        default: false
        }
    }

    var isNil: Bool {
        if case .uid = value { true } else { false }
    }

    /// The fields of an object, or the entries of an inline dictionary.
    var fields: Fields? {
        guard case .dictionary(let keys, let values) = value else { return nil }
        return Fields(keys: keys, values: values)
    }
}

extension DecodingSession {
    func element(_ position: Int, of references: PropertyList.References) -> ObjectIndex {
        list.element(position, of: references)
    }

    /// The value of a property list object, or of the object that it refers to.
    func resolve(_ index: ObjectIndex) -> DecodingPlace {
        let (object, uid, value) = list.resolve(index, in: objects)
        guard let uid else { return DecodingPlace(index: index, uid: 0, value: value) }
        guard uid != 0, !isNull(value) else {
            return DecodingPlace(index: index, uid: 0, value: .uid(uid))
        }
        return DecodingPlace(index: object, uid: uid, value: value)
    }

    /// Whether an object is the plain string `$null`, which means nil.
    private func isNull(_ value: PropertyList.Value) -> Bool {
        guard case .string(let range) = value else { return false }
        return list.isEqual(range, to: "$null")
    }
}

/// The location of a value in the value that is decoded: its parent and its key.
struct DecodingLocation {
    enum Key {
        /// The value is the parent's value itself.
        case none
        /// The caller's own key.
        case name(any CodingKey)
        case index(Int)
    }

    let parent: ValueDecoder?
    let key: Key

    /// The path from the root.
    var path: [any CodingKey] {
        var path: [any CodingKey] = []
        var location = self
        while true {
            switch location.key {
            case .none: break
            case .name(let name): path.append(name)
            case .index(let index): path.append(PathKey.index(index))
            }
            guard let parent = location.parent else { return path.reversed() }
            location = parent.location
        }
    }
}
