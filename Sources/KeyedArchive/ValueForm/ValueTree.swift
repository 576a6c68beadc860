internal import PropertyList

/// A whole value in flat storage.
///
/// Nodes refer to each other by number, so neither walking nor freeing it recurses.
struct ValueTree {
    typealias NodeIndex = Int

    enum Node {
        case scalar(Scalar)
        /// A number that is an object even in a field.
        case numberObject(Scalar)
        /// Bytes that are inline in an object.
        case inlineBytes(ArraySlice<UInt8>)
        /// An array.
        ///
        /// Its elements are fields without names.
        case array(Range<Int>)
        /// A dictionary with string keys, sorted.
        case dictionary(Range<Int>)
        /// An object with sorted fields, without `$class`.
        case object(className: Text, Range<Int>)
        /// The entries of `$top`, sorted.
        case top(Range<Int>)
    }

    struct Field {
        let name: Text
        let node: NodeIndex
    }

    private(set) var nodes: [Node] = []
    private(set) var fields: [Field] = []

    mutating func add(_ node: Node) -> NodeIndex {
        nodes.append(node)
        return nodes.count - 1
    }

    /// Replaces a node with another one.
    mutating func replace(_ index: NodeIndex, with node: Node) {
        nodes[index] = node
    }

    /// Makes a node that is a date of the property list an NSDate object.
    mutating func makeDateObject(of index: NodeIndex) {
        guard case .scalar(.date(let seconds)) = nodes[index] else { return }
        let time = add(.scalar(.real(seconds)))
        nodes[index] = .object(
            className: "NSDate", add([ValueTree.Field(name: "NS.time", node: time)]))
    }

    /// Stores fields next to each other, and returns their range.
    mutating func add(_ new: some Collection<Field>) -> Range<Int> {
        let start = fields.count
        fields += new
        return start..<fields.count
    }
}

// MARK: Writing

extension ValueTree {
    /// The archive of the value of a node.
    func archive(root: NodeIndex) -> KeyedArchive {
        if case .scalar(let scalar) = nodes[root], let bytes = ScalarArchive.bytes(of: scalar),
            let archive = try? KeyedArchive(validating: bytes)
        {
            return archive
        }
        let writer = ArchiveWriter(nodeCount: nodes.count, content: content)
        guard case .top(let range) = nodes[root] else { return writer.archive(root: root) }
        return writer.archive(top: fields[range].map(written))
    }

    private func content(of node: NodeIndex) -> ArchiveWriter.Content {
        switch nodes[node] {
        case .scalar(let scalar), .numberObject(let scalar):
            return .scalar(scalar)
        case .array(let range):
            let elements = ArchiveWriter.Field(name: "NS.objects", value: elements(range))
            return .object(chain: ClassChain.of("NSArray"), fields: [elements])
        case .dictionary(let range):
            let keys = ArchiveWriter.Value.strings(fields[range].map(\.name))
            return .object(
                chain: ClassChain.of("NSDictionary"),
                fields: [
                    ArchiveWriter.Field(name: "NS.keys", value: keys),
                    ArchiveWriter.Field(name: "NS.objects", value: elements(range)),
                ])
        case .object(let className, let range):
            return .object(chain: ClassChain.of(className), fields: fields[range].map(written))
        case .inlineBytes, .top:
            preconditionFailure("This node is allowed only in a field or at the root.")
        }
    }

    /// A field in the form in which it is written.
    ///
    /// The element lists of a collection, and the text of a string, are inline in an object of any
    /// class, because every archiver writes them like this.
    private func written(_ field: Field) -> ArchiveWriter.Field {
        let value: ArchiveWriter.Value =
            switch (field.name, nodes[field.node]) {
            case ("NS.objects", .array(let range)), ("NS.keys", .array(let range)):
                elements(range)
            case ("NS.string", .scalar(.string(let text))): .inlineString(text)
            case (_, .scalar(let scalar)): .scalar(scalar)
            case (_, .inlineBytes(let bytes)): .inlineBytes(bytes)
            case (_, .numberObject), (_, .array), (_, .dictionary), (_, .object), (_, .top):
                .reference(field.node)
            }
        return ArchiveWriter.Field(name: field.name, value: value)
    }

    private func elements(_ range: Range<Int>) -> ArchiveWriter.Value {
        .elements(fields[range].map(\.node))
    }
}
