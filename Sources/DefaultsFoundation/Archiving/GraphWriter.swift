internal import KeyedArchive
internal import PropertyList

/// Writes the archive of an object graph, in the same order as archives of values are written.
///
/// 1. An object comes before what its fields refer to, and its class record after that. So the root
///    is UID 1.
/// 2. An object has one UID, however many refer to it.
/// 3. The bytes follow from the graph alone, not from the numbers of its nodes; the work is a stack
///    in an array.
struct GraphWriter {
    private typealias NodeIndex = ObjectGraph.NodeIndex
    private typealias Field = ObjectGraph.Field

    /// Something left to do, which leaves one property list object on `results` when it is done.
    private enum Step {
        case value(ObjectGraph.Value)
        case endElements(count: Int)
        case endObject(uid: UInt64, chain: [Text], names: [Text])
    }

    private let graph: ObjectGraph
    private let order: ElementOrder
    private var table = ObjectTable()
    private var uids: [ObjectGraph.NodeIndex: UInt64] = [:]
    private var steps: [Step]
    private var results: [ObjectIndex] = []

    private init(of graph: ObjectGraph, root: NodeIndex?) {
        self.graph = graph
        order = ElementOrder(in: graph, root: root)
        steps = [.value(.reference(root))]
    }

    /// The archive whose root is this node.
    static func archive(of graph: ObjectGraph, root: ObjectGraph.NodeIndex?) -> KeyedArchive {
        var writer = GraphWriter(of: graph, root: root)
        while let step = writer.steps.popLast() { writer.perform(step) }
        return writer.table.finish(top: ["root"], writer.results)
    }

    private mutating func perform(_ step: Step) {
        switch step {
        case .value(let value):
            add(value)
        case .endElements(let count):
            results.append(table.elements(popResults(count)))
        case .endObject(let uid, let chain, let names):
            table.define(uid, chain: chain, names: names, values: popResults(names.count))
            results.append(table.reference(to: uid))
        }
    }

    private mutating func add(_ value: ObjectGraph.Value) {
        switch value {
        case .inline(let scalar):
            results.append(table.field(scalar))
        case .text(let text):
            results.append(table.inlineString(text))
        case .bytes(let bytes):
            results.append(table.inlineBytes(bytes[...]))
        case .reference(let node?), .conditional(let node):
            reference(to: node)
        case .reference(nil):
            results.append(table.reference(to: .null))
        case .elements(let elements):
            steps.append(.endElements(count: elements.count))
            steps += elements.reversed().map { .value(.reference($0)) }
        }
    }

    /// Refers to a node, which is written where it was not yet.
    private mutating func reference(to node: NodeIndex) {
        if let uid = uids[node] { return results.append(table.reference(to: uid)) }
        switch graph.nodes[node] {
        case .pending:
            // It was only ever referred to conditionally.
            results.append(table.reference(to: .null))
        case .scalar(let scalar):
            results.append(table.reference(to: scalar))
        case .object(let chain, let fields):
            begin(node, chain, fields)
        case .set(let chain, let elements):
            let positions = order.positions(of: elements)
            begin(node, chain, [Field("NS.objects", elements, at: positions)])
        case .dictionary(let chain, let keys, let values):
            let positions = order.positions(of: keys)
            let fields = [
                Field("NS.keys", keys, at: positions), Field("NS.objects", values, at: positions),
            ]
            begin(node, chain, fields)
        case .countedSet(let elements, let counts):
            let positions = order.positions(of: elements)
            let fields = countedFields(elements, counts, at: positions)
            begin(node, ClassChain.of("NSCountedSet"), fields)
        }
    }

    private func countedFields(
        _ elements: [NodeIndex], _ counts: [Int], at positions: [Int]
    ) -> [Field] {
        var fields = [
            Field(name: "NS.count", value: .inline(.integer(Int128(positions.count))))
        ]
        for (number, position) in positions.enumerated() {
            fields.append(
                Field(
                    name: Text("NS.count\(number)"),
                    value: .inline(.integer(Int128(counts[position])))))
            fields.append(
                Field(name: Text("NS.object\(number)"), value: .reference(elements[position])))
        }
        return fields.sorted { $0.name < $1.name }
    }

    /// Takes the next UID for an object, and leaves its fields to be done.
    private mutating func begin(
        _ node: NodeIndex, _ chain: [Text], _ fields: [Field]
    ) {
        let uid = table.reserve()
        uids[node] = uid
        steps.append(.endObject(uid: uid, chain: chain, names: fields.map(\.name)))
        steps += fields.reversed().map { .value($0.value) }
    }

    private mutating func popResults(_ count: Int) -> [ObjectIndex] {
        let popped = Array(results.suffix(count))
        results.removeLast(count)
        return popped
    }
}

extension ObjectGraph.Field {
    /// The list of these of a collection's elements.
    fileprivate init(_ name: Text, _ elements: [ObjectGraph.NodeIndex], at positions: [Int]) {
        self.init(name: name, value: .elements(positions.map { elements[$0] }))
    }
}
