internal import KeyedArchive
internal import PropertyList

/// All objects that are to be written, in flat storage: nodes refer to each other by number.
struct ObjectGraph {
    typealias NodeIndex = Int

    enum Node {
        /// An object whose content is not known yet.
        ///
        /// If an object has only conditional references, it stays so, and is written as nil.
        case pending
        case scalar(Scalar)
        /// An object.
        ///
        /// Its chain is its class and all superclasses.
        case object(chain: [Text], fields: [Field])
        /// A set.
        ///
        /// Its elements have no order.
        case set(chain: [Text], [NodeIndex])
        case dictionary(chain: [Text], keys: [NodeIndex], values: [NodeIndex])
        /// A set that counts how often it contains each element.
        case countedSet([NodeIndex], counts: [Int])
    }

    typealias Field = ArchiveWriter.Field
    typealias Value = ArchiveWriter.Value

    private(set) var nodes: [Node] = []

    /// Reserves the next number for an object that is defined later.
    mutating func reserve() -> NodeIndex {
        nodes.append(.pending)
        return nodes.count - 1
    }

    mutating func define(_ index: NodeIndex, as node: Node) {
        nodes[index] = node
    }
}

/// How ``ArchiveWriter`` writes a graph.
extension ObjectGraph {
    /// The archive whose root is this node.
    func archive(root: NodeIndex?) -> KeyedArchive {
        let order = ElementOrder(in: self, root: root)
        let writer = ArchiveWriter(nodeCount: nodes.count) { content(of: $0, order) }
        return writer.archive(root: root)
    }

    private func content(of node: NodeIndex, _ order: ElementOrder) -> ArchiveWriter.Content {
        switch nodes[node] {
        case .pending:
            return .absent
        case .scalar(let scalar):
            return .scalar(scalar)
        case .object(let chain, let fields):
            return .object(chain: chain, fields: fields)
        case .set(let chain, let elements):
            let positions = order.positions(of: elements)
            return .object(chain: chain, fields: [Field("NS.objects", elements, at: positions)])
        case .dictionary(let chain, let keys, let values):
            let positions = order.positions(of: keys)
            let fields = [
                Field("NS.keys", keys, at: positions), Field("NS.objects", values, at: positions),
            ]
            return .object(chain: chain, fields: fields)
        case .countedSet(let elements, let counts):
            let fields = countedFields(elements, counts, at: order.positions(of: elements))
            return .object(chain: ClassChain.of("NSCountedSet"), fields: fields)
        }
    }

    private func countedFields(
        _ elements: [NodeIndex], _ counts: [Int], at positions: [Int]
    ) -> [Field] {
        func integer(_ name: Text, _ value: Int) -> Field {
            Field(name: name, value: .scalar(.integer(Int128(value))))
        }
        var fields = [integer("NS.count", positions.count)]
        for (number, position) in positions.enumerated() {
            fields.append(integer(Text("NS.count\(number)"), counts[position]))
            fields.append(
                Field(name: Text("NS.object\(number)"), value: .reference(elements[position])))
        }
        return fields.sorted { $0.name < $1.name }
    }
}

extension ObjectGraph.Field {
    /// Makes the list of a collection's elements in this order.
    fileprivate init(_ name: Text, _ elements: [ObjectGraph.NodeIndex], at positions: [Int]) {
        self.init(name: name, value: .elements(positions.map { elements[$0] }))
    }
}
