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
    func field(_ name: String, of entries: KeyedEntries) -> ObjectIndex? {
        let spelling = entries.spelling(of: hasPrefix ? Self.foundationPrefix + name : name)
        if let field = field(spelled: spelling, of: entries) { return field }
        // Fields that were written without a key are called $0, $1 and so on.
        guard spelling.utf8.starts(with: "$$".utf8), name != "$class" else { return nil }
        return entries.value(named: name, in: session)
    }

    private func field(spelled name: String, of entries: KeyedEntries) -> ObjectIndex? {
        let lookup = lookups
        lookups += 1
        if let type, lookup < type.positions.count {
            let position = type.positions[lookup]
            if position < entries.count, entries.isKey(at: position, name, in: session) {
                return entries.value(at: position, in: session.list)
            }
        }
        guard let position = position(of: name, in: entries) else { return nil }
        if let type {
            if lookup < type.positions.count {
                type.positions[lookup] = position
            } else if lookup == type.positions.count {
                type.positions.append(position)
            }
        }
        return entries.value(at: position, in: session.list)
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
