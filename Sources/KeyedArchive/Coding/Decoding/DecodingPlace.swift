internal import PropertyList

/// A value of the archive, references to it resolved.
struct DecodingPlace {
    /// The object of the property list.
    let index: ObjectIndex
    /// The object's UID; 0 where it stands inline.
    let uid: UInt64
    /// What the object is; a UID only where that is nil.
    let value: PropertyList.Value

    var isNil: Bool {
        if case .uid = value { true } else { false }
    }

    /// The fields of an object, or the entries of an inline dictionary.
    var fields: Fields? {
        guard case .dictionary(let keys, let values) = value else { return nil }
        return Fields(keys: keys, values: values)
    }
}

extension KeyedArchive {
    /// What stands somewhere in the property list, itself or behind a reference.
    func place(of index: ObjectIndex) -> DecodingPlace {
        let value = list.value(at: index)
        guard case .uid(let uid) = value, !isNil(uid) else {
            return DecodingPlace(index: index, uid: 0, value: value)
        }
        let object = object(uid)
        return DecodingPlace(index: object, uid: uid, value: list.value(at: object))
    }
}
