internal import PropertyList

/// The dictionaries of the value form, and their entries.
extension ValueFormRenderer {
    func set(_ className: Text, _ elements: Elements) -> Item {
        .dictionary([
            Entry(key: "$class", item: .text(className)),
            Entry(key: "NS.objects", item: .array(elements)),
        ])
    }

    /// A dictionary whose keys have no simple spelling.
    func pairs(_ className: Text, _ keys: Elements, _ values: Elements) -> Item {
        .dictionary([
            Entry(key: "$class", item: .text(className)),
            Entry(key: "NS.keys", item: .array(keys)),
            Entry(key: "NS.objects", item: .array(values)),
        ])
    }

    /// A dictionary object.
    ///
    /// It has a simple spelling if its keys are strings and all different, and is shown as pairs
    /// otherwise.
    ///
    /// Only this function decides that. Keys that begin with `$` are such strings, too. The sink
    /// decides whether they have a simple spelling.
    mutating func dictionary(
        _ className: Text, _ keys: Elements, _ values: Elements
    ) throws(ArchiveError) -> Item {
        var entries: [Entry] = []
        entries.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            guard let key = archive.text(ofKey: keys.element(position, in: list)) else {
                return pairs(className, keys, values)
            }
            try spend(key.byteCount)
            let value = values.element(position, in: list)
            entries.append(Entry(key: key, item: .value(value, .element)))
        }
        entries.sort { $0.key < $1.key }
        let hasDuplicate = zip(entries, entries.dropFirst()).contains { $0.key == $1.key }
        guard !hasDuplicate else { return pairs(className, keys, values) }
        return plain(entries, className, keys, values)
    }

    private func plain(
        _ entries: [Entry], _ className: Text, _ keys: Elements, _ values: Elements
    ) -> Item {
        guard entries.contains(where: { $0.key.hasPrefix("$") }) else {
            return .dictionary(entries)
        }
        return .dictionaryOfAnyKeys(entries, className: className, keys: keys, values: values)
    }

    /// An inline property list dictionary.
    ///
    /// Its keys are strings and all different.
    mutating func inline(
        _ keys: PropertyList.References, _ values: PropertyList.References
    ) throws(ArchiveError) -> Item {
        let fields = Fields(keys: keys, values: values)
        return plain(
            try entries(of: fields, at: .element), "NSDictionary", .references(keys),
            .references(values))
    }

    /// The fields of an object and its class.
    mutating func entries(
        of fields: Fields, className: Text
    ) throws(ArchiveError) -> [Entry] {
        try entries(of: fields, at: .field).map { entry in
            entry.key == "$class" ? Entry(key: entry.key, item: .text(className)) : entry
        }
    }

    /// The entries of a property list dictionary, sorted.
    mutating func entries(
        of fields: Fields, at position: Position
    ) throws(ArchiveError) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(fields.count)
        for number in 0..<fields.count {
            let key = fields.name(at: number, in: list)
            try spend(key.byteCount)
            entries.append(
                Entry(key: key, item: .value(fields.value(at: number, in: list), position)))
        }
        entries.sort { $0.key < $1.key }
        return entries
    }
}
