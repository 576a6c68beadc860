internal import PropertyList

/// Finding fields by name: where the last object of the type had it, else by a search.
extension ValueDecoder {
    /// Up to how many fields are searched one by one.
    private static let searchLimit = 16
    /// What stands before the names of the fields of NSURL.
    private static let foundationPrefix = "NS."

    private var hasPrefix: Bool { type?.facts.foundation == .url }

    /// What a field is called for the type.
    func strippingPrefix(of name: String) -> String {
        guard hasPrefix, name.hasPrefix(Self.foundationPrefix) else { return name }
        return String(name.dropFirst(Self.foundationPrefix.utf8.count))
    }

    /// The value of the field of this name, where there is one.
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
