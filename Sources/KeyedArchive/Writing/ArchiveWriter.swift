internal import PropertyList

/// Writes the archive of a value, in the order in which Foundation's archiver does.
///
/// 1. An object comes before what its fields refer to, and its class record after that. So the root
///    is UID 1.
/// 2. Collections and objects are never shared.
/// 3. The bytes follow from the tree alone; the work is a stack in an array.
struct ArchiveWriter {
    private enum Position {
        case element
        case field
    }

    /// Something left to do, which leaves one property list object on `results` when it is done.
    private enum Step {
        case value(ValueTree.NodeIndex, Position)
        case field(ValueTree.Field)
        case names(Range<Int>)
        case elements(Range<Int>)
        case endElements(count: Int)
        case endObject(uid: UInt64, className: Text, names: [Text])
    }

    private let tree: ValueTree
    private var table = ObjectTable()
    private var steps: [Step] = []
    private var results: [ObjectIndex] = []

    init(of tree: ValueTree) {
        self.tree = tree
    }

    mutating func write(_ root: ValueTree.NodeIndex) -> KeyedArchive {
        let names: [Text]
        if case .top(let range) = tree.nodes[root] {
            names = tree.fields[range].map(\.name)
            steps = tree.fields[range].reversed().map(Step.field)
        } else {
            names = ["root"]
            steps = [.value(root, .element)]
        }
        while let step = steps.popLast() { perform(step) }
        return table.finish(top: names, results)
    }
}

// MARK: Steps

extension ArchiveWriter {
    private mutating func perform(_ step: Step) {
        switch step {
        case .value(let node, let position):
            add(tree.nodes[node], at: position)
        case .field(let field):
            add(field)
        case .names(let range):
            let names = tree.fields[range].map { table.reference(to: .string($0.name)) }
            results.append(table.elements(names))
        case .elements(let range):
            steps.append(.endElements(count: range.count))
            steps += tree.fields[range].reversed().map { .value($0.node, .element) }
        case .endElements(let count):
            results.append(table.elements(popResults(count)))
        case .endObject(let uid, let className, let names):
            let values = popResults(names.count)
            table.define(uid, chain: ClassChain.of(className), names: names, values: values)
            results.append(table.reference(to: uid))
        }
    }

    /// Adds a field's value.
    ///
    /// The lists of a collection's elements, and the text of a string, stand inline, whatever the
    /// class, for that is how every archiver writes them.
    private mutating func add(_ field: ValueTree.Field) {
        switch (field.name, tree.nodes[field.node]) {
        case ("NS.objects", .array(let range)), ("NS.keys", .array(let range)):
            steps.append(.elements(range))
        case ("NS.string", .scalar(.string(let text))):
            results.append(table.inlineString(text))
        case (_, let node):
            add(node, at: .field)
        }
    }

    private mutating func add(_ node: ValueTree.Node, at position: Position) {
        switch node {
        case .scalar(let scalar):
            results.append(
                position == .field ? table.field(scalar) : table.reference(to: scalar))
        case .numberObject(let scalar):
            results.append(table.reference(to: scalar))
        case .inlineBytes(let bytes):
            results.append(table.inlineBytes(bytes))
        case .array(let range):
            begin("NSArray", ["NS.objects"], [.elements(range)])
        case .dictionary(let range):
            begin("NSDictionary", ["NS.keys", "NS.objects"], [.names(range), .elements(range)])
        case .object(let className, let range):
            let fields = tree.fields[range]
            begin(className, fields.map(\.name), fields.map(Step.field))
        case .top:
            preconditionFailure("$top stands inside a value.")
        }
    }

    /// Takes the next UID for an object, and leaves its fields to be done.
    private mutating func begin(_ className: Text, _ names: [Text], _ fields: [Step]) {
        steps.append(.endObject(uid: table.reserve(), className: className, names: names))
        steps += fields.reversed()
    }

    private mutating func popResults(_ count: Int) -> [ObjectIndex] {
        let popped = Array(results.suffix(count))
        results.removeLast(count)
        return popped
    }
}
