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
    private var steps: [Step] = []
    private var results: [ObjectIndex] = []

    init(of graph: ObjectGraph, order: ElementOrder) {
        self.graph = graph
        self.order = order
    }

    /// Writes the archive whose root is this node.
    mutating func write(_ root: ObjectGraph.NodeIndex?) throws(ObjectCodingError) -> KeyedArchive {
        steps = [.value(.reference(root))]
        while let step = steps.popLast() { try perform(step) }
        return table.finish(top: ["root"], results)
    }

    private mutating func perform(_ step: Step) throws(ObjectCodingError) {
        switch step {
        case .value(let value):
            try add(value)
        case .endElements(let count):
            results.append(table.elements(popResults(count)))
        case .endObject(let uid, let chain, let names):
            table.define(uid, chain: chain, names: names, values: popResults(names.count))
            results.append(table.reference(to: uid))
        }
    }

    private mutating func add(_ value: ObjectGraph.Value) throws(ObjectCodingError) {
        switch value {
        case .inline(let scalar):
            results.append(table.field(scalar))
        case .text(let text):
            results.append(table.inlineString(text))
        case .bytes(let bytes):
            results.append(table.inlineBytes(bytes[...]))
        case .reference(let node?), .conditional(let node):
            try reference(to: node)
        case .reference(nil):
            results.append(table.reference(to: .null))
        case .elements(let elements):
            steps.append(.endElements(count: elements.count))
            steps += elements.reversed().map { .value(.reference($0)) }
        }
    }

    /// Refers to a node, which is written where it was not yet.
    private mutating func reference(to node: NodeIndex) throws(ObjectCodingError) {
        if let uid = uids[node] { return results.append(table.reference(to: uid)) }
        switch graph.nodes[node] {
        case .pending:
            // It was only ever referred to conditionally.
            results.append(table.reference(to: .null))
        case .scalar(let scalar):
            results.append(table.reference(to: scalar))
        case .object(let chain, let fields):
            try begin(node, chain, fields)
        case .set(let chain, let elements):
            let positions = try order.positions(of: elements, in: node)
            try begin(node, chain, [Field("NS.objects", elements, at: positions)])
        case .dictionary(let chain, let keys, let values):
            let positions = try order.positions(of: keys, in: node)
            let fields = [
                Field("NS.keys", keys, at: positions), Field("NS.objects", values, at: positions),
            ]
            try begin(node, chain, fields)
        case .countedSet(let elements, let counts):
            let positions = try order.positions(of: elements, in: node)
            let fields = countedFields(elements, counts, at: positions)
            try begin(node, ClassChain.of("NSCountedSet"), fields)
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
    ) throws(ObjectCodingError) {
        try order.spend()
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
