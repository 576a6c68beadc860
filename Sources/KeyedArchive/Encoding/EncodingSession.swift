internal import PropertyList

/// The state of encoding one value, which its encoders and containers share.
///
/// Exclusivity is not checked at run time for the properties that each field needs, because that
/// would cost a tenth of the time. There are no overlapping accesses: code that changes such a
/// property calls nothing that comes back here.
final class EncodingSession {
    typealias Node = EncodingGraph.Node

    /// Up to this number of fields, an object's names are searched linearly.
    static let searchLimit = 16

    /// A type that was used.
    private struct MetType {
        let facts: TypeFacts
        /// The class of its objects, after the first one.
        var classNumber = EncodingGraph.none
    }

    /// The class of objects that were encoded.
    struct MetClass {
        /// Its name and those of its superclasses.
        let chain: [Text]
        let facts: TypeFacts
        /// The names of the fields of the last object, in the order in which they came.
        ///
        /// The next object very likely has the same.
        var fieldNames: [UInt32] = []
    }

    struct Field: Hashable {
        let node: Node
        let name: UInt32
    }

    let options: KeyedArchiveEncoder
    @exclusivity(unchecked) var graph = EncodingGraph()
    @exclusivity(unchecked) var names = NameTable()
    @exclusivity(unchecked) var classes: [MetClass] = []
    /// The first error in a function that cannot throw.
    ///
    /// All later calls throw it.
    @exclusivity(unchecked) private(set) var failure: EncodingError?
    @exclusivity(unchecked) private var types: [MetType] = []
    private var typeNumbers: [ObjectIdentifier: UInt32] = [:]
    @exclusivity(unchecked) private var lastType: (identifier: ObjectIdentifier, number: UInt32)?
    /// An instance that was encoded.
    private struct MetInstance {
        let node: Node
        /// Whether it is being encoded.
        ///
        /// If so, meeting it again means a cycle.
        var isOpen = true
    }

    /// The instances that were encoded.
    ///
    /// They are kept alive, so that no other instance can get their address.
    private var instances: [ObjectIdentifier: MetInstance] = [:]
    private var keptAlive: [AnyObject] = []
    /// The fields of large objects.
    var fields: [Field: Node] = [:]
    @exclusivity(unchecked) var heldKeys = HeldKeys()
    @exclusivity(unchecked) private var level = 0

    /// The sets, and the dictionaries whose keys are not all strings.
    var unordered: [Node] = []

    /// Whether an instance is used in several places.
    private(set) var hasReferences = false

    init(_ options: KeyedArchiveEncoder) {
        self.options = options
    }

    func fail(_ error: EncodingError) {
        if failure == nil { failure = error }
    }
}

// MARK: Values

extension EncodingSession {
    /// Encodes a value at an empty node.
    func encode<Value: Encodable>(_ value: Value, at node: Node) throws {
        if let failure { throw failure }
        guard level < options.depthLimit else {
            throw EncodingError.tooDeep(limit: options.depthLimit, at: path(to: node))
        }
        level += 1
        let keyCount = heldKeys.count
        defer {
            level -= 1
            heldKeys.removeLast(heldKeys.count - keyCount)
        }
        let number = number(of: Value.self)
        let facts = types[Int(number)].facts
        if facts.isClass {
            try encodeInstance(value, at: node)
        } else if let collection = facts.encodedCollection {
            try collection.encode(value, at: node, in: self)
        } else if let foundation = facts.foundation {
            try encode(value, as: foundation, of: number, at: node)
        } else {
            try encode(value, of: number, at: node)
        }
    }

    /// Calls the `encode(to:)` of a value.
    private func encode(_ value: some Encodable, of type: UInt32, at node: Node) throws {
        graph.set(.pending(type: type), at: node)
        try value.encode(to: ValueEncoder(session: self, node: node))
        // A value that requests no container is an object without fields.
        if case .pending = graph[node].value { _ = beginObject(at: node) }
    }

    private func encodeInstance(_ value: some Encodable, at node: Node) throws {
        let instance = value as AnyObject
        if let known = instances[ObjectIdentifier(instance)] {
            guard !known.isOpen else {
                throw EncodingError.cycle(type(of: instance), at: path(to: node))
            }
            graph.set(.reference(known.node), at: node)
            hasReferences = true
            return
        }
        instances[ObjectIdentifier(instance)] = MetInstance(node: node)
        graph.markInstance(node)
        keptAlive.append(instance)
        try encode(value, of: number(of: type(of: instance)), at: node)
        instances[ObjectIdentifier(instance)]?.isOpen = false
    }

    /// Encodes a value as the member that was added last.
    ///
    /// If this fails, the member is removed, so the caller can catch the error and encode something
    /// else there.
    func encode(_ value: some Encodable, asMember node: Node) throws {
        let instanceCount = keptAlive.count
        do {
            try encode(value, at: node)
        } catch {
            let parent = graph[node].parent
            fields[Field(node: parent, name: graph[node].name)] = nil
            forgetInstances(from: instanceCount)
            graph.setMembers(graph.members(of: parent).filter { $0 != node }, of: parent)
            throw error
        }
    }

    /// Encodes a value as the single value of an empty node.
    ///
    /// If this fails, the node stays empty.
    func encode(_ value: some Encodable, asSingle node: Node) throws {
        let instanceCount = keptAlive.count
        let before = graph[node].value
        try setSingle(before, at: node)
        do {
            try encode(value, at: node)
        } catch {
            graph.set(before, at: node)
            graph.setMembers([], of: node)
            fields = fields.filter { $0.key.node != node }
            forgetInstances(from: instanceCount)
            throw error
        }
    }

    /// Forgets the instances after the first `count`.
    private func forgetInstances(from count: Int) {
        for instance in keptAlive[count...] { instances[ObjectIdentifier(instance)] = nil }
        keptAlive.removeSubrange(count...)
    }
}

// MARK: Types

extension EncodingSession {
    private func number(of type: Any.Type) -> UInt32 {
        let identifier = ObjectIdentifier(type)
        if let lastType, lastType.identifier == identifier { return lastType.number }
        let number: UInt32
        if let known = typeNumbers[identifier] {
            number = known
        } else {
            number = UInt32(types.count)
            types.append(MetType(facts: TypeFacts.of(type)))
            typeNumbers[identifier] = number
        }
        lastType = (identifier, number)
        return number
    }

    private func classNumber(ofType number: UInt32) -> UInt32 {
        let position = Int(number)
        if types[position].classNumber == EncodingGraph.none {
            let facts = types[position].facts
            classes.append(MetClass(chain: chain(of: facts), facts: facts))
            types[position].classNumber = UInt32(classes.count - 1)
        }
        return types[position].classNumber
    }

    private func chain(of facts: TypeFacts) -> [Text] {
        let name = Text(className(of: facts))
        guard let superclass = facts.superclass else { return ClassChain.of(name) }
        return [name] + chain(of: superclass)
    }

    private func className(of facts: TypeFacts) -> String {
        if let name = options.classNames[ObjectIdentifier(facts.type)] { return name }
        if let foundation = facts.foundation { return foundation.className }
        // Foundation's own classes are known by their names without a module everywhere.
        let usesModule = options.usesModuleNames && !facts.isFoundations
        return usesModule ? facts.name.qualified : facts.name.unqualified
    }
}

// MARK: Containers

extension EncodingSession {
    /// Prepares a node for fields.
    ///
    /// If the node cannot have fields, another node is returned, and encoding fails later.
    func beginFields(at node: Node) -> Node {
        switch graph[node].value {
        case .pending: beginObject(at: node)
        case .object, .dictionary: node
        default: conflict(at: node)
        }
    }

    /// Prepares a node for elements, in the same way.
    func beginElements(at node: Node) -> Node {
        switch graph[node].value {
        case .pending:
            graph.set(.array, at: node)
            return node
        case .array:
            return node
        default:
            return conflict(at: node)
        }
    }

    private func beginObject(at node: Node) -> Node {
        guard case .pending(let type) = graph[node].value, type != EncodingGraph.none else {
            graph.set(.dictionary, at: node)
            return node
        }
        graph.set(.object(classNumber: classNumber(ofType: type)), at: node)
        if let versioned = types[Int(type)].facts.version {
            let name = names.number(of: archiveVersionField)
            let version = EncodingGraph.Value.integer(Int64(versioned.archiveVersion))
            _ = graph.addMember(of: node, name: name, version)
        }
        return node
    }

    func conflict(at node: Node) -> Node {
        fail(EncodingError.secondContainer(at: path(to: node)))
        return graph.addDetached(below: node)
    }

    /// The initial value of a node to which a superclass writes separately.
    func superclassValue(of node: Node) -> EncodingGraph.Value {
        guard case .object(let classNumber) = graph[node].value,
            let superclass = classes[Int(classNumber)].facts.superclass
        else { return .pending(type: EncodingGraph.none) }
        return .pending(type: number(of: superclass.type))
    }
}
