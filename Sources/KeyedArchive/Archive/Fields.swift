package import PropertyList

/// The entries of a property list dictionary, found by name in the order of the file.
package struct Fields {
    package let keys: PropertyList.References
    package let values: PropertyList.References

    package init(keys: PropertyList.References, values: PropertyList.References) {
        self.keys = keys
        self.values = values
    }

    /// The fields of the object if it is a dictionary.
    package init?(of list: PropertyList, at index: ObjectIndex) {
        guard case .dictionary(let keys, let values) = list.value(at: index) else { return nil }
        self.init(keys: keys, values: values)
    }

    package var count: Int { keys.count }

    /// The value of the field of this name.
    package subscript(name: StaticString, in list: PropertyList) -> ObjectIndex? {
        list.value(ofKey: name, keys: keys, values: values)
    }

    /// The position of the field with this name.
    package func position(of name: StaticString, in list: PropertyList) -> Int? {
        (0..<count).first { position in
            list.string(at: key(at: position, in: list)).map { list.isEqual($0, to: name) } ?? false
        }
    }

    package func key(at position: Int, in list: PropertyList) -> ObjectIndex {
        list.element(position, of: keys)
    }

    package func value(at position: Int, in list: PropertyList) -> ObjectIndex {
        list.element(position, of: values)
    }

    /// The name of a field; keys of a property list dictionary are strings.
    package func name(at position: Int, in list: PropertyList) -> Text {
        guard let name = list.text(at: key(at: position, in: list)) else {
            preconditionFailure("A key of a property list dictionary is not a string.")
        }
        return name
    }
}

/// The elements of a collection: those of a property list array, or fields with numbers in their
/// names.
package enum Elements {
    case references(PropertyList.References)
    case listed([ObjectIndex])

    package var count: Int {
        switch self {
        case .references(let references): references.count
        case .listed(let elements): elements.count
        }
    }

    package func element(_ position: Int, in list: PropertyList) -> ObjectIndex {
        switch self {
        case .references(let references): list.element(position, of: references)
        case .listed(let elements): elements[position]
        }
    }
}
