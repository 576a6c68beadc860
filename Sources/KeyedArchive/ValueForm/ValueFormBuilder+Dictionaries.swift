internal import PropertyList

/// What the dictionaries of the value form mean, by their keys that begin with `$`.
extension ValueFormBuilder {
    /// Refuses a key that means nothing anywhere.
    func checkSpelling(of key: Text) throws(ValueFormError) {
        guard key.hasPrefix("$") else { return }
        switch key {
        case "$ref": throw .reference
        case "$classdef": throw .classRecord
        case "$class", "$value", "$bytes", "$data", "$date", "$real", "$top": return
        default:
            guard key.isFieldName else { throw .unknownKey }
        }
    }

    /// What a dictionary with these entries, sorted by key, is.
    mutating func dictionary(
        _ entries: [ValueTree.Field], isRoot: Bool
    ) throws(ValueFormError) -> ValueTree.Node {
        guard entries.contains(where: { $0.name.hasPrefix("$") }) else {
            try refuseInlineBytes(in: entries)
            return .dictionary(tree.add(entries))
        }
        if let entry = entries.first(where: { $0.name == "$class" }) {
            return try object(of: entry.node, entries.filter { $0.name != "$class" })
        }
        guard entries.count == 1, let entry = entries.first else { throw .misplacedKey }
        return try spelledScalar(entry, isRoot: isRoot)
    }

    /// The entries of `$top`, whose keys are any an archiver can be given.
    mutating func top(_ entries: [ValueTree.Field]) throws(ValueFormError) -> ValueTree.Node {
        guard !entries.isEmpty else { throw .badValue("$top", needs: "a dictionary with a key") }
        for entry in entries where entry.name.hasPrefix("$") && !entry.name.isFieldName {
            throw .misplacedKey
        }
        return .top(tree.add(entries))
    }

    /// A dictionary of one entry, which spells what has no spelling of its own.
    private mutating func spelledScalar(
        _ entry: ValueTree.Field, isRoot: Bool
    ) throws(ValueFormError) -> ValueTree.Node {
        let node = tree.nodes[entry.node]
        switch entry.name {
        case "$data":
            return .scalar(.data(try bytes(node, of: "$data")))
        case "$bytes":
            return .inlineBytes(try bytes(node, of: "$bytes"))
        case "$date":
            return .scalar(.date(try seconds(node)))
        case "$real":
            return .scalar(.real(try unusualReal(node)))
        case "$top":
            guard isRoot else { throw .topNotAtRoot }
            guard case .top = node else { throw .badValue("$top", needs: "a dictionary") }
            return node
        default:
            throw .misplacedKey
        }
    }

    /// An object of the class that `$class` names, or nil or a number, which are spelled like one.
    private mutating func object(
        of classNode: ValueTree.NodeIndex, _ fields: [ValueTree.Field]
    ) throws(ValueFormError) -> ValueTree.Node {
        guard case .scalar(.string(let name)) = tree.nodes[classNode], name.byteCount > 0 else {
            throw .badValue("$class", needs: "the name of a class")
        }
        if name == "$null" {
            if !fields.isEmpty { throw .misplacedKey }
            return .scalar(.null)
        }
        guard !name.hasPrefix("$") else {
            throw .badValue("$class", needs: "the name of a class, or $null")
        }
        if name == "NSNumber", fields.count == 1, let field = fields.first, field.name == "$value" {
            return .numberObject(try number(tree.nodes[field.node]))
        }
        if name == "NSDate", fields.count == 1, let field = fields.first, field.name == "$date" {
            return try dateObject(field.node)
        }
        for field in fields where field.name.hasPrefix("$") && !field.name.isFieldName {
            throw .misplacedKey
        }
        if name == "NSDictionary" || name == "NSMutableDictionary" { try checkPairs(fields) }
        return .object(className: name, tree.add(fields))
    }

    /// A date object, whose time is spelled like a date of a property list.
    private mutating func dateObject(
        _ date: ValueTree.NodeIndex
    ) throws(ValueFormError) -> ValueTree.Node {
        // It stays one value, as the limit counts them.
        tree.replace(date, with: .scalar(.real(try seconds(tree.nodes[date]))))
        return .object(
            className: "NSDate", tree.add([ValueTree.Field(name: "NS.time", node: date)]))
    }

    private func checkPairs(_ fields: [ValueTree.Field]) throws(ValueFormError) {
        func count(_ name: Text) -> Int? {
            guard let field = fields.first(where: { $0.name == name }),
                case .array(let elements) = tree.nodes[field.node]
            else { return nil }
            return elements.count
        }
        guard count("NS.keys") == count("NS.objects") else { throw .unevenPairs }
    }

    private func refuseInlineBytes(in entries: [ValueTree.Field]) throws(ValueFormError) {
        for entry in entries {
            if case .inlineBytes = tree.nodes[entry.node] { throw .inlineBytesInCollection }
        }
    }
}

// MARK: Scalars

extension ValueFormBuilder {
    private func number(_ node: ValueTree.Node) throws(ValueFormError) -> Scalar {
        guard case .scalar(let scalar) = node else {
            throw .badValue("$value", needs: "a number or a boolean")
        }
        switch scalar {
        case .boolean, .integer, .real: return scalar
        case .null, .string, .data, .date:
            throw .badValue("$value", needs: "a number or a boolean")
        }
    }

    /// The bytes themselves, as D-Bus has them, or base64, as JSON has them.
    private func bytes(
        _ node: ValueTree.Node, of key: StaticString
    ) throws(ValueFormError) -> ArraySlice<UInt8> {
        switch node {
        case .scalar(.data(let data)):
            return data
        case .scalar(.string(let text)):
            if let bytes = text.string.flatMap(Base64.decode) { return bytes[...] }
            fallthrough
        default:
            throw .badValue(key, needs: "bytes, in JSON as padded base64")
        }
    }

    private func seconds(_ node: ValueTree.Node) throws(ValueFormError) -> Double {
        switch node {
        case .scalar(.real(let seconds)): return seconds
        case .scalar(.integer(let seconds)): return Double(seconds)
        case .scalar(.string(let text)):
            if let seconds = text.string.flatMap(ISODate.seconds) { return seconds }
            fallthrough
        default:
            throw .badValue(
                "$date",
                needs:
                    "a date and time with a zone, such as \"2024-02-29T12:00:01Z\", or the number "
                    + "of seconds since 2001")
        }
    }

    private func unusualReal(_ node: ValueTree.Node) throws(ValueFormError) -> Double {
        if case .scalar(.string(let text)) = node {
            switch text {
            case "nan": return .nan
            case "inf": return .infinity
            case "-inf": return -.infinity
            default: break
            }
        }
        throw .badValue("$real", needs: "\"nan\", \"inf\" or \"-inf\"")
    }
}

extension Text {
    /// Whether an archiver writes a field of this name: `$0`, `$1` and so on for fields without a
    /// key, and a `$` more for keys that begin with one.
    package var isFieldName: Bool {
        guard !hasPrefix("$$") else { return true }
        guard let digits = string?.utf8.dropFirst(), !digits.isEmpty else { return false }
        return digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
