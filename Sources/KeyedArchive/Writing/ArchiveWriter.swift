internal import PropertyList

/// Writes the archive of a value, in the order in which Foundation's archiver does.
///
/// 1. `$objects` begins with `$null`; an object comes before what its fields refer to, and its class
///    record after that. So the root is UID 1.
/// 2. Equal strings, numbers, data and dates are one object, and so are records of one class.
///    Collections and objects are never shared.
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
        case endObject(position: Int, className: Text, names: [Text])
    }

    private let tree: ValueTree
    private var list = PropertyListWriter()
    /// The entries of `$objects`.
    private var objects: [ObjectIndex]
    /// The UIDs of the objects that are shared.
    private var uids: [ObjectIndex: UInt64] = [:]
    private var classUIDs: [Text: UInt64] = [:]
    private var steps: [Step] = []
    private var results: [ObjectIndex] = []

    init(of tree: ValueTree) {
        self.tree = tree
        objects = [list.add(string: "$null")]
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

        let topKeys = names.map { list.add(string: $0) }
        let entries: KeyValuePairs<Text, ObjectIndex> = [
            "$version": list.add(integer: KeyedArchive.version),
            "$archiver": list.add(string: "NSKeyedArchiver"),
            "$top": list.add(keys: topKeys, values: results),
            "$objects": list.add(array: objects),
        ]
        let archive = list.add(
            keys: entries.map { list.add(string: $0.key) }, values: entries.map(\.value))
        return validated(list.finish(root: archive))
    }

    /// Reads what was written; the limits on what is read do not hold for it.
    private func validated(_ bytes: [UInt8]) -> KeyedArchive {
        let limits = KeyedArchive.Limits(
            byteCount: .max, objectCount: .max, depth: KeyedArchive.Limits.standard.depth)
        do {
            return try KeyedArchive(validating: bytes, limits: limits)
        } catch {
            preconditionFailure("The archive that was written is not valid: \(error)")
        }
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
            let names = tree.fields[range].map { reference(to: .string($0.name)) }
            results.append(list.add(array: names))
        case .elements(let range):
            steps.append(.endElements(count: range.count))
            steps += tree.fields[range].reversed().map { .value($0.node, .element) }
        case .endElements(let count):
            let elements = popResults(count)
            results.append(list.add(array: elements))
        case .endObject(let position, let className, let names):
            let values = popResults(names.count)
            objects[position] = object(className, names, values)
            results.append(list.add(uid: UInt64(position)))
        }
    }

    /// Adds a field's value.
    ///
    /// The lists of a collection's elements stand inline, whatever the class, for that is how every
    /// archiver writes them.
    private mutating func add(_ field: ValueTree.Field) {
        if field.name == "NS.objects" || field.name == "NS.keys",
            case .array(let range) = tree.nodes[field.node]
        {
            steps.append(.elements(range))
        } else {
            add(tree.nodes[field.node], at: .field)
        }
    }

    private mutating func add(_ node: ValueTree.Node, at position: Position) {
        switch node {
        case .scalar(let scalar):
            results.append(position == .field ? inline(scalar) : reference(to: scalar))
        case .numberObject(let scalar):
            results.append(reference(to: scalar))
        case .inlineBytes(let bytes):
            results.append(list.add(data: bytes))
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
        let position = objects.count
        objects.append(objects[0])
        steps.append(.endObject(position: position, className: className, names: names))
        steps += fields.reversed()
    }

    private mutating func popResults(_ count: Int) -> [ObjectIndex] {
        let popped = Array(results.suffix(count))
        results.removeLast(count)
        return popped
    }
}

// MARK: Objects

extension ArchiveWriter {
    /// A number or a boolean itself; a reference to all else, as `encodeObject:` writes it.
    private mutating func inline(_ scalar: ValueTree.Scalar) -> ObjectIndex {
        switch scalar {
        case .boolean, .integer, .real: add(scalar)
        case .null, .string, .data, .date: reference(to: scalar)
        }
    }

    private mutating func add(_ scalar: ValueTree.Scalar) -> ObjectIndex {
        switch scalar {
        case .null: objects[0]
        case .boolean(let value): list.add(boolean: value)
        case .integer(let value): list.add(integer: value)
        case .real(let value): list.add(real: value)
        case .string(let value): list.add(string: value)
        case .data(let value): list.add(data: value)
        case .date(let value): list.add(date: value)
        }
    }

    /// A reference to the one object that the scalar is.
    private mutating func reference(to scalar: ValueTree.Scalar) -> ObjectIndex {
        if case .null = scalar { return list.add(uid: 0) }
        let index = add(scalar)
        let uid = uids[index] ?? newUID(of: index)
        return list.add(uid: uid)
    }

    private mutating func newUID(of scalar: ObjectIndex) -> UInt64 {
        let uid = UInt64(objects.count)
        uids[scalar] = uid
        objects.append(scalar)
        if scalar == objects[0] {
            // A reference to the plain string `$null` is nil, so this one has to be an object.
            objects[Int(uid)] = object("NSString", ["NS.string"], [scalar])
        }
        return uid
    }

    private mutating func object(
        _ className: Text, _ names: [Text], _ values: [ObjectIndex]
    ) -> ObjectIndex {
        let keys = [list.add(string: "$class")] + names.map { list.add(string: $0) }
        return list.add(keys: keys, values: [list.add(uid: classUID(of: className))] + values)
    }

    private mutating func classUID(of className: Text) -> UInt64 {
        if let uid = classUIDs[className] { return uid }
        let chain = ClassChain.of(className).map { list.add(string: $0) }
        let record = list.add(
            keys: [list.add(string: "$classname"), list.add(string: "$classes")],
            values: [chain[0], list.add(array: chain)])
        objects.append(record)
        let uid = UInt64(objects.count - 1)
        classUIDs[className] = uid
        return uid
    }
}
