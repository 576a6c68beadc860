internal import PropertyList

/// Makes objects of what stands inline in the property list, as an archiver would have written it.
struct Hoisting {
    private(set) var draft: Draft
    private var shared: SharedObjects
    /// The slots of inline collections and scalars.
    private var slots: [Draft.Node: Draft.Slot] = [:]

    init(in draft: Draft) {
        self.draft = draft
        let all = Array(repeating: true, count: draft.valueStart.slot)
        shared = SharedObjects(of: draft, in: all)
    }

    /// The slot of the object that an inline value becomes, with all that it holds inline.
    mutating func hoist(_ root: Draft.Node) -> Draft.Slot {
        var collections: [Draft.Node] = []
        var stack = [root]
        while let node = stack.popLast() {
            guard slots[node] == nil else { continue }
            switch draft.content(of: node) {
            case .reference:
                continue
            case .scalar, .text:
                slots[node] = shared.slot(of: node, in: &draft)
            case .list, .dictionary:
                // What it is follows when all that it holds has its slot.
                slots[node] = draft.addSlot(.text(""))
                collections.append(node)
                stack += draft.content(of: node).children.reversed()
            }
        }
        for node in collections { define(node) }
        return slot(of: root)
    }

    private func slot(of node: Draft.Node) -> Draft.Slot {
        if case .reference(let slot) = draft.content(of: node) { return slot }
        guard let slot = slots[node] else {
            preconditionFailure("An inline value was not made an object.")
        }
        return slot
    }

    private mutating func define(_ node: Draft.Node) {
        switch draft.content(of: node) {
        case .list(let kind, let elements):
            let className: Text =
                switch kind {
                case .array: "NSArray"
                case .set: "NSSet"
                case .orderedSet: "NSOrderedSet"
                }
            define(node, className, [("NS.objects", elements)])
        case .dictionary(let keys, let values):
            define(node, "NSDictionary", [("NS.keys", keys), ("NS.objects", values)])
        case .scalar, .text, .reference:
            preconditionFailure("What is no collection was taken for one.")
        }
    }

    private mutating func define(
        _ node: Draft.Node, _ className: Text, _ lists: [(name: Text, elements: [Draft.Node])]
    ) {
        var names: [Draft.Node] = []
        var values: [Draft.Node] = []
        for (name, elements) in lists {
            let references = elements.map { draft.add(.reference(slot(of: $0))) }
            names.append(draft.add(.text(name)))
            values.append(draft.add(.list(.array, references)))
        }
        shared.define(slot(of: node), className, names, values, in: &draft)
    }
}
