import PropertyList

/// What an archive is made of, found in its property list by the plainest means.
struct ArchiveParts {
    let list: PropertyList
    /// The entries of the root, in their order.
    let entries: [(key: ObjectIndex, value: ObjectIndex)]
    let objectsIndex: ObjectIndex
    let objects: PropertyList.References
    private let top: ObjectIndex

    /// Finds the parts of an archive that was validated.
    init(of bytes: [UInt8]) throws {
        list = try PropertyList(bytes)
        let root = list.fields(of: list.root) ?? []
        entries = root.map { ($0.key, $0.value) }
        guard let objectsIndex = root.first(where: { $0.name == "$objects" })?.value,
            case .array(let objects) = list.value(at: objectsIndex),
            let top = root.first(where: { $0.name == "$top" })?.value
        else { throw Violation(description: "An archive without its parts passed.") }
        self.objectsIndex = objectsIndex
        self.objects = objects
        self.top = top
    }

    /// Whether every object is spelled in the value form in a way that means it and nothing else.
    ///
    /// No archiver writes others: names with a `$` that is not doubled, a list of elements behind a
    /// reference, not as many keys as values, or a root that is no reference.
    var isPlain: Bool {
        let top = list.fields(of: top) ?? []
        if top.count == 1, top[0].name == "root" {
            guard case .uid = list.value(at: top[0].value) else { return false }
        }
        return top.allSatisfy { $0.name.isFieldName }
            && list.elements(of: objects).allSatisfy { isPlain($0) }
    }

    private func isPlain(_ index: ObjectIndex) -> Bool {
        guard let fields = list.fields(of: index), fields.contains(where: { $0.name == "$class" })
        else { return true }
        let name = className(of: fields)
        guard !name.hasPrefix("$") else { return false }
        let counts = (["NS.keys", "NS.objects"] as [Text]).map { name -> Int? in
            guard let field = fields.first(where: { $0.name == name }),
                case .array(let elements) = list.value(at: field.value)
            else { return nil }
            return elements.count
        }
        let isDictionary = name == "NSDictionary" || name == "NSMutableDictionary"
        guard !isDictionary || counts[0] == counts[1] else { return false }
        return fields.allSatisfy { field in
            if field.name == "$class" { return true }
            if field.name == "NS.keys" || field.name == "NS.objects",
                case .uid = list.value(at: field.value)
            {
                return false
            }
            return field.name.isFieldName
        }
    }

    private func className(of fields: [PropertyList.Field]) -> Text {
        guard let reference = fields.first(where: { $0.name == "$class" }),
            case .uid(let uid) = list.value(at: reference.value),
            let record = list.fields(of: list.element(Int(uid), of: objects)),
            let name = record.first(where: { $0.name == "$classname" })
        else { return "$" }
        return list.text(at: name.value) ?? "$"
    }
}

extension PropertyList {
    struct Field {
        let name: Text
        let key: ObjectIndex
        let value: ObjectIndex
    }

    /// The entries of a dictionary; of anything else nil.
    func fields(of index: ObjectIndex) -> [Field]? {
        guard case .dictionary(let keys, let values) = value(at: index) else { return nil }
        return zip(elements(of: keys), elements(of: values)).compactMap { key, value in
            text(at: key).map { Field(name: $0, key: key, value: value) }
        }
    }
}

extension Text {
    /// Whether an archiver writes a field of this name: each `$` that it begins with is doubled, and
    /// `$0`, `$1` and so on are fields without a key.
    var isFieldName: Bool {
        guard hasPrefix("$"), !hasPrefix("$$") else { return true }
        let rest = codeUnits.dropFirst()
        return !rest.isEmpty && rest.allSatisfy { (0x30...0x39).contains($0) }
    }
}
