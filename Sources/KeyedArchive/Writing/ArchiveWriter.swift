package import PropertyList

/// Writes the archive of a graph, in the same order as Foundation's archiver.
///
/// 1. An object comes before the objects that its fields refer to, and its class record after them.
///    So the root is UID 1.
/// 2. An object has one UID, even if several others refer to it.
/// 3. The bytes depend only on the graph, not on the numbers of its nodes. The stack is an array.
///
/// Values of JSON and D-Bus, and objects of NSSecureCoding, are written with this type.
/// ``EncodingWriter`` writes Codable values in the same order, but without an array for each
/// object.
package struct ArchiveWriter {
    /// The number of a node.
    package typealias Node = Int

    /// The kind of a node.
    package enum Content {
        /// Nothing: a reference to it is nil.
        case absent
        case scalar(Scalar)
        /// An object.
        ///
        /// The chain is its class and its superclasses.
        case object(chain: [Text], fields: [Field])
    }

    package struct Field {
        package let name: Text
        package let value: Value

        package init(name: Text, value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The value of a field.
    package enum Value {
        /// A number or a boolean itself, or a reference to any other scalar.
        case scalar(Scalar)
        case inlineString(Text)
        case inlineBytes(ArraySlice<UInt8>)
        case reference(Node?)
        /// The inline list of a collection's elements.
        case elements([Node])
        /// The inline list of a collection's elements, which are strings.
        case strings([Text])
    }

    /// A step that is left to do.
    ///
    /// It adds one property list object to `results`.
    private enum Step {
        case value(Value)
        case endElements(count: Int)
        case endObject(uid: UInt64, chain: [Text], fields: [Field])
    }

    private let content: (Node) -> Content
    private var table = ObjectTable()
    /// The UIDs of the objects that were begun, by node; 0 for the others.
    private var uids: [UInt32]
    private var steps: [Step] = []
    private var results: [ObjectIndex] = []

    /// - Parameters:
    ///   - nodeCount: How many nodes there are.
    ///   - content: Returns the kind of a node. It is called once for an object.
    package init(nodeCount: Int, content: @escaping (Node) -> Content) {
        self.content = content
        uids = Array(repeating: 0, count: nodeCount)
    }

    /// The archive with a node as its root.
    ///
    /// Nil means nil.
    package consuming func archive(root: Node?) -> KeyedArchive {
        archive(top: [Field(name: "root", value: .reference(root))])
    }

    /// The archive whose `$top` has these entries.
    package consuming func archive(top: [Field]) -> KeyedArchive {
        steps = top.reversed().map { .value($0.value) }
        while let step = steps.popLast() { perform(step) }
        return table.finish(top: top.map(\.name), results)
    }
}

// MARK: Steps

extension ArchiveWriter {
    private mutating func perform(_ step: Step) {
        switch step {
        case .value(let value):
            add(value)
        case .endElements(let count):
            let elements = table.elements(results.suffix(count))
            results.removeLast(count)
            results.append(elements)
        case .endObject(let uid, let chain, let fields):
            let values = Array(results.suffix(fields.count))
            results.removeLast(fields.count)
            table.define(uid, chain: chain, names: fields.map(\.name), values: values)
            results.append(table.reference(to: uid))
        }
    }

    private mutating func add(_ value: Value) {
        switch value {
        case .scalar(let scalar):
            results.append(table.field(scalar))
        case .inlineString(let text):
            results.append(table.inlineString(text))
        case .inlineBytes(let bytes):
            results.append(table.inlineBytes(bytes))
        case .reference(let node):
            refer(to: node)
        case .elements(let nodes):
            steps.append(.endElements(count: nodes.count))
            steps += nodes.reversed().lazy.map { .value(.reference($0)) }
        case .strings(let texts):
            let references = texts.map { table.reference(to: .string($0)) }
            results.append(table.elements(references))
        }
    }

    /// Refers to a node.
    ///
    /// It is written now if this was not done before.
    private mutating func refer(to node: Node?) {
        guard let node else { return results.append(table.reference(to: .null)) }
        guard uids[node] == 0 else {
            return results.append(table.reference(to: UInt64(uids[node])))
        }
        switch content(node) {
        case .absent:
            results.append(table.reference(to: .null))
        case .scalar(let scalar):
            results.append(table.reference(to: scalar))
        case .object(let chain, let fields):
            // It gets its UID before its fields are written.
            let uid = table.reserve()
            uids[node] = UInt32(uid)
            steps.append(.endObject(uid: uid, chain: chain, fields: fields))
            steps += fields.reversed().lazy.map { .value($0.value) }
        }
    }
}
