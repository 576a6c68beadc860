internal import PropertyList

/// The dictionaries of the value form, and how their entries come about.
extension ValueFormRenderer {
    func set(_ className: Text, _ elements: Elements) -> Item {
        .dictionary([
            Entry(key: "$class", item: .text(className)),
            Entry(key: "NS.objects", item: .array(elements)),
        ])
    }

    /// A dictionary whose keys have no plain spelling.
    private func pairs(_ className: Text, _ keys: Elements, _ values: Elements) -> Item {
        .dictionary([
            Entry(key: "$class", item: .text(className)),
            Entry(key: "NS.keys", item: .array(keys)),
            Entry(key: "NS.objects", item: .array(values)),
        ])
    }

    /// A dictionary object: plain where its keys are strings, all different, none beginning with $.
    mutating func dictionary(
        _ className: Text, _ keys: Elements, _ values: Elements
    ) throws(ArchiveError) -> Item {
        var entries: [Entry] = []
        entries.reserveCapacity(keys.count)
        for position in 0..<keys.count {
            guard let key = archive.text(ofKey: keys.element(position, in: list)),
                !key.hasPrefix("$")
            else { return pairs(className, keys, values) }
            try spend(key.byteCount)
            let value = values.element(position, in: list)
            entries.append(Entry(key: key, item: .value(value, .element)))
        }
        entries.sort { $0.key < $1.key }
        let hasDuplicate = zip(entries, entries.dropFirst()).contains { $0.key == $1.key }
        return hasDuplicate ? pairs(className, keys, values) : .dictionary(entries)
    }

    /// A property list dictionary that stands inline; its keys are strings, all different.
    mutating func inline(
        _ keys: PropertyList.References, _ values: PropertyList.References
    ) throws(ArchiveError) -> Item {
        let fields = Fields(keys: keys, values: values)
        let entries = try entries(of: fields, at: .element)
        guard !entries.contains(where: { $0.key.hasPrefix("$") }) else {
            return pairs("NSDictionary", .references(keys), .references(values))
        }
        return .dictionary(entries)
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
