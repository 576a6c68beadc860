internal import KeyedArchive
internal import PropertyList

/// A graph that is being built from an archive, which is edited or from which a value is taken, and
/// from the value that is set in it.
///
/// 1. A node is an object of a property list: first those of the archive, then those of the value,
///    then those that an edit makes. A node never changes. An edit makes new nodes, so other places
///    that share a node keep it.
/// 2. A slot is an entry of `$objects`: first those of the archive, then those of the value, then
///    new ones. Nodes refer to slots. An edit changes the node of a slot, for everything that
///    refers to it.
/// 3. Slot 0 is nil. Nil in the value is slot 0, too.
struct Draft {
    typealias Node = Int
    typealias Slot = Int

    enum ListKind {
        case array, set, orderedSet
    }

    enum Content {
        /// A scalar of a property list that was read.
        case scalar(ObjectIndex, PropertyList)
        /// A new string.
        case text(Text)
        case reference(Slot)
        case list(ListKind, [Node])
        case dictionary(keys: [Node], values: [Node])
    }

    let base: KeyedArchive
    private let value: KeyedArchive?
    /// The first node and the first slot of the value.
    let valueStart: (node: Node, slot: Slot)
    private let newStart: Node
    private var new: [Content] = []
    private(set) var slots: [Node]
    /// The node of `$top`.
    private(set) var top: Node
    /// The slots of the value that are replaced by equal slots of the archive.
    private(set) var aliases: [Slot: Slot] = [:]

    init(of base: KeyedArchive, with value: KeyedArchive? = nil) {
        self.base = base
        self.value = value
        newStart = base.list.objectCount + (value?.list.objectCount ?? 0)
        top = base.top.position
        slots = base.objectIndices.map(\.position)
        if slots.isEmpty {
            new.append(.text("$null"))
            slots.append(newStart)
        }
        valueStart = (base.list.objectCount, slots.count)
        for index in value?.objectIndices ?? [] { slots.append(valueStart.node + index.position) }
    }

    /// How many nodes there are.
    var nodeCount: Int { newStart + new.count }
}

extension KeyedArchive {
    fileprivate var objectIndices: [ObjectIndex] {
        (0..<objects.count).map { list.element($0, of: objects) }
    }
}

// MARK: Reading

extension Draft {
    func content(of node: Node) -> Content {
        if node < valueStart.node {
            return content(of: node, in: base, from: (0, 0))
        }
        if let value, node < newStart {
            return content(of: node - valueStart.node, in: value, from: valueStart)
        }
        return new[node - newStart]
    }

    private func content(
        of position: Int, in archive: KeyedArchive, from start: (node: Node, slot: Slot)
    ) -> Content {
        let list = archive.list
        let index = list.index(at: position)
        func nodes(_ references: PropertyList.References) -> [Node] {
            (0..<references.count).map { start.node + list.element($0, of: references).position }
        }
        switch list.value(at: index) {
        case .boolean, .integer, .real, .singleReal, .date, .data, .string:
            return .scalar(index, list)
        case .uid(let uid):
            guard start.slot > 0 else { return .reference(Slot(uid)) }
            if archive.isNil(uid) { return .reference(0) }
            let slot = start.slot + Slot(uid)
            return .reference(aliases[slot] ?? slot)
        case .array(let elements): return .list(.array, nodes(elements))
        case .set(let elements): return .list(.set, nodes(elements))
        case .orderedSet(let elements): return .list(.orderedSet, nodes(elements))
        case .dictionary(let keys, let values):
            return .dictionary(keys: nodes(keys), values: nodes(values))
        }
    }

    /// The text of a node that is a string.
    private func text(of node: Node) -> Text? {
        switch content(of: node) {
        case .scalar(let index, let list): list.text(at: index)
        case .text(let text): text
        case .reference, .list, .dictionary: nil
        }
    }

    /// Whether a node is this string.
    func isString(_ node: Node, _ string: StaticString) -> Bool {
        switch content(of: node) {
        case .scalar(let index, let list):
            list.string(at: index).map { list.isEqual($0, to: string) } ?? false
        case .text(let text): text == Text(string.description)
        case .reference, .list, .dictionary: false
        }
    }

    /// Whether a node is a scalar.
    func isScalar(_ node: Node) -> Bool {
        switch content(of: node) {
        case .scalar, .text: true
        case .reference, .list, .dictionary: false
        }
    }
}

// MARK: Changing

extension Draft {
    mutating func add(_ content: Content) -> Node {
        new.append(content)
        return nodeCount - 1
    }

    mutating func addSlot(_ content: Content) -> Slot {
        slots.append(add(content))
        return slots.count - 1
    }

    /// Sets the node of a slot that was added before.
    mutating func define(_ slot: Slot, _ content: Content) {
        slots[slot] = add(content)
    }

    /// Replaces a slot of the value by an equal slot of the archive.
    mutating func alias(_ slot: Slot, for valueSlot: Slot) {
        aliases[valueSlot] = slot
    }

    /// Puts a node at a place.
    ///
    /// The collections around it are made again, up to the owner of the place.
    mutating func put(_ node: Node, at place: Place) {
        var node = node
        for hop in place.hops.reversed() {
            node = add(content(of: hop.container.position).with(node, at: hop.child))
        }
        switch place.owner {
        case .top: top = node
        case .object(let uid): slots[Slot(uid)] = node
        }
    }
}

extension Draft.Content {
    /// The nodes in a collection.
    ///
    /// Keys come first.
    var children: [Draft.Node] {
        switch self {
        case .scalar, .text, .reference: []
        case .list(_, let elements): elements
        case .dictionary(let keys, let values): keys + values
        }
    }

    /// The collection with another element, or another value of a dictionary.
    fileprivate func with(_ node: Draft.Node, at position: Int) -> Draft.Content {
        switch self {
        case .list(let kind, var elements):
            elements[position] = node
            return .list(kind, elements)
        case .dictionary(let keys, var values):
            values[position] = node
            return .dictionary(keys: keys, values: values)
        case .scalar, .text, .reference:
            preconditionFailure("A place is inside a value that is not a collection.")
        }
    }
}

/// The elements of collections, in all spellings.
///
/// An edit keeps the spelling.
extension Draft {
    /// The nodes of a collection's elements, as the archive has them.
    func nodes(of list: ElementList) -> [Node] {
        (0..<list.count).map { list.elements.element($0, in: base.list).position }
    }

    /// Replaces the elements of a collection.
    mutating func replace(_ list: ElementList, with nodes: [Node]) {
        switch list.storage {
        case .itself:
            guard case .list(let kind, _) = content(of: list.holder.index.position) else {
                preconditionFailure("A collection of the property list is not a collection.")
            }
            put(add(.list(kind, nodes)), at: list.holder.place)
        case .field(let name):
            replaceField(Text(name), of: list.holder, with: add(.list(.array, nodes)))
        case .numbered(let prefix):
            replaceFields(after: prefix, of: list.holder, count: list.count, with: nodes)
        }
    }

    /// The names and values of an object after the edits so far.
    private func fields(of holder: Holder) -> (names: [Node], values: [Node], slot: Slot) {
        guard case .object(let uid) = holder.place.owner,
            case .dictionary(let names, let values) = content(of: slots[Slot(uid)])
        else { preconditionFailure("A collection with fields is not an object.") }
        return (names, values, Slot(uid))
    }

    private mutating func replaceField(_ name: Text, of holder: Holder, with node: Node) {
        var (names, values, slot) = fields(of: holder)
        if let position = names.firstIndex(where: { text(of: $0) == name }) {
            values[position] = node
        } else {
            names.append(add(.text(name)))
            values.append(node)
        }
        define(slot, .dictionary(keys: names, values: values))
    }

    /// Replaces the fields `prefix`0 to `prefix`(count - 1) in their order, removes those that are
    /// too many, and adds missing ones.
    private mutating func replaceFields(
        after prefix: String, of holder: Holder, count: Int, with nodes: [Node]
    ) {
        let (names, values, slot) = fields(of: holder)
        var newNames: [Node] = []
        var newValues: [Node] = []
        for (name, value) in zip(names, values) {
            guard let number = text(of: name)?.number(after: prefix), number < count else {
                newNames.append(name)
                newValues.append(value)
                continue
            }
            guard number < nodes.count else { continue }
            newNames.append(name)
            newValues.append(nodes[number])
        }
        for number in count..<max(count, nodes.count) {
            newNames.append(add(.text(Text("\(prefix)\(number)"))))
            newValues.append(nodes[number])
        }
        define(slot, .dictionary(keys: newNames, values: newValues))
    }
}
