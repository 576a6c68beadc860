internal import PropertyList

/// The elements of collections, in all their spellings, which an edit keeps.
extension Draft {
    /// The nodes of a collection's elements, as the archive has them.
    func nodes(of list: ElementList) -> [Node] {
        (0..<list.count).map { list.elements.element($0, in: base.list).position }
    }

    /// Gives a collection other elements.
    mutating func replace(_ list: ElementList, with nodes: [Node]) {
        switch list.storage {
        case .itself:
            guard case .list(let kind, _) = content(of: list.holder.index.position) else {
                preconditionFailure("A collection of the property list is none.")
            }
            put(add(.list(kind, nodes)), at: list.holder.place)
        case .field(let name):
            replaceField(Text(name), of: list.holder, with: add(.list(.array, nodes)))
        case .numbered(let prefix):
            replaceFields(after: prefix, of: list.holder, count: list.count, with: nodes)
        }
    }

    /// The names and values of an object, as edits so far have left them.
    private func fields(of holder: Holder) -> (names: [Node], values: [Node], slot: Slot) {
        guard case .object(let uid) = holder.place.owner,
            case .dictionary(let names, let values) = content(of: slots[Slot(uid)])
        else { preconditionFailure("A collection with fields is no object.") }
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

    /// Replaces the fields `prefix`0 to `prefix`(count - 1) in their order; leaves out those that are
    /// too many, and adds those that are not there yet.
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
