package import KeyedArchive
internal import PropertyList
package import OwnedDocuments

/// A document in YAML 1.2.
///
/// Scalars are read by the core schema, and what is ambiguous among readers is refused; see `YAMLScalar`. The keys
/// of mappings are texts as they are written.
package struct YAMLSource: DocumentSource {
    private enum Level {
        case mapping([YAMLTree.Entry], next: Int)
        case sequence([Int], next: Int)
    }

    private let tree: YAMLTree
    private var levels: [Level] = []
    /// The node that comes next.
    private var next: Int
    /// Where the key or element is that was read last.
    private var lastPlace: DocumentError.Place

    /// - Throws: `DocumentError` if the text is not a mapping in YAML, or libyaml is not installed.
    package init(_ text: [UInt8]) throws(DocumentError) {
        tree = try YAMLTree(text)
        next = tree.root
        lastPlace = tree.nodes[next].place
        guard try enterDictionary() else {
            throw DocumentError("The text is not a mapping.", at: lastPlace)
        }
    }

    package var mark: Int { lastPlace.line << 32 | lastPlace.column }

    package func place(of mark: Int) -> DocumentError.Place? {
        DocumentError.Place(line: mark >> 32, column: mark & 0xFFFF_FFFF)
    }

    package func hasKey(_ key: String) -> Bool {
        guard case .mapping(let entries) = tree.nodes[tree.root].content else { return false }
        return entries.contains { $0.key == key }
    }

    package mutating func nextKey() throws(DocumentError) -> String? {
        guard case .mapping(let entries, let position) = levels.popLast() else {
            preconditionFailure("No mapping was entered.")
        }
        guard position < entries.count else { return nil }
        levels.append(.mapping(entries, next: position + 1))
        next = entries[position].value
        lastPlace = entries[position].place
        return entries[position].key
    }

    package mutating func enterDictionary() throws(DocumentError) -> Bool {
        guard case .mapping(let entries) = tree.nodes[next].content else { return false }
        levels.append(.mapping(entries, next: 0))
        return true
    }

    package mutating func enterArray() throws(DocumentError) -> Bool {
        guard case .sequence(let elements) = tree.nodes[next].content else { return false }
        levels.append(.sequence(elements, next: 0))
        return true
    }

    package mutating func nextElement() throws(DocumentError) -> Bool {
        guard case .sequence(let elements, let position) = levels.popLast() else {
            preconditionFailure("No sequence was entered.")
        }
        guard position < elements.count else { return false }
        levels.append(.sequence(elements, next: position + 1))
        next = elements[position]
        lastPlace = tree.nodes[next].place
        return true
    }

    package func word() -> String? {
        guard case .mapping(let entries) = tree.nodes[next].content, let key = entries.first?.key,
            DocumentWord(rawValue: key) != nil
        else { return nil }
        return key
    }

    package mutating func value() throws(DocumentError) -> KeyedArchive {
        var builder = ValueFormBuilder(limits: .ofDocument)
        try render(next, into: &builder)
        return builder.finish()
    }

    package mutating func skipValue() throws(DocumentError) {}

    /// Passes a value on, without recursion: the depth of a text is the author's.
    private func render(
        _ root: Int, into builder: inout ValueFormBuilder
    ) throws(DocumentError) {
        var stack: [Level] = []
        var node = root
        while true {
            let (content, place) = (tree.nodes[node].content, tree.nodes[node].place)
            switch content {
            case .scalar(let scalar):
                try scalar.check(at: place)
                try scalar.render(into: &builder, at: place)
            case .sequence(let elements):
                try building(at: place) { () throws(ValueFormError) in try builder.beginArray() }
                stack.append(.sequence(elements, next: 0))
            case .mapping(let entries):
                try building(at: place) { () throws(ValueFormError) in try builder.beginDictionary()
                }
                stack.append(.mapping(entries, next: 0))
            }
            guard let following = try advance(&stack, &builder) else { return }
            node = following
        }
    }

    /// The node that comes next; nil at the end of the value.
    private func advance(
        _ stack: inout [Level], _ builder: inout ValueFormBuilder
    ) throws(DocumentError) -> Int? {
        while let level = stack.popLast() {
            switch level {
            case .sequence(let elements, let position):
                guard position < elements.count else {
                    try building(at: lastPlace) { () throws(ValueFormError) in
                        try builder.endArray()
                    }
                    continue
                }
                stack.append(.sequence(elements, next: position + 1))
                return elements[position]
            case .mapping(let entries, let position):
                guard position < entries.count else {
                    try building(at: lastPlace) { () throws(ValueFormError) in
                        try builder.endDictionary()
                    }
                    continue
                }
                stack.append(.mapping(entries, next: position + 1))
                let entry = entries[position]
                try building(at: entry.place) { () throws(ValueFormError) in
                    try builder.key(Text(entry.key))
                }
                return entry.value
            }
        }
        return nil
    }

    private func building(
        at place: DocumentError.Place?, _ body: () throws(ValueFormError) -> Void
    ) throws(DocumentError) {
        do throws(ValueFormError) {
            try body()
        } catch {
            throw DocumentError(error.message, at: place)
        }
    }
}
