internal import KeyedArchive
internal import PropertyList

/// The objects of an archive that are used instead of equal ones in an edit: plain scalars and
/// class records, which writers of archives share.
struct SharedObjects {
    private var numbering = ContentNumbering()
    private var scalars: [Int: Draft.Slot] = [:]
    private var records: [ContentNumbering.RecordKey: Draft.Slot] = [:]

    /// Collects the objects of the archive that are in use.
    init(of draft: Draft, in use: [Bool]) {
        for slot in 1..<draft.valueStart.slot where use[slot] {
            let node = draft.slots[slot]
            if let number = numbering.number(of: node, in: draft) {
                // A reference to the plain string `$null` means nil.
                if scalars[number] == nil, !draft.isString(node, "$null") { scalars[number] = slot }
            } else if let key = numbering.recordKey(of: node, in: draft) {
                if records[key] == nil { records[key] = slot }
            }
        }
    }

    /// The slot of the archive with an equal scalar or class record.
    mutating func slot(equalTo node: Draft.Node, in draft: Draft) -> Draft.Slot? {
        if let number = numbering.number(of: node, in: draft) { return scalars[number] }
        return numbering.recordKey(of: node, in: draft).flatMap { records[$0] }
    }

    /// The slot of an object with this scalar, or a new slot if there is none.
    mutating func slot(of scalar: Draft.Node, in draft: inout Draft) -> Draft.Slot {
        guard let number = numbering.number(of: scalar, in: draft) else {
            preconditionFailure("Only scalars can be shared.")
        }
        if let slot = scalars[number] { return slot }
        let slot: Draft.Slot
        if draft.isString(scalar, "$null") {
            // A plain string with this text would mean nil.
            let key = draft.add(.text("NS.string"))
            slot = draft.addSlot(.dictionary(keys: [], values: []))
            define(slot, FoundationClass.string.className, [key], [scalar], in: &draft)
        } else {
            slot = draft.addSlot(draft.content(of: scalar))
        }
        scalars[number] = slot
        return slot
    }

    /// Defines a slot as an object of a known class with these fields.
    mutating func define(
        _ slot: Draft.Slot, _ className: Text, _ names: [Draft.Node], _ values: [Draft.Node],
        in draft: inout Draft
    ) {
        let record = draft.add(.reference(self.record(of: className, in: &draft)))
        let classKey = draft.add(.text("$class"))
        draft.define(slot, .dictionary(keys: [classKey] + names, values: [record] + values))
    }

    private mutating func record(of className: Text, in draft: inout Draft) -> Draft.Slot {
        let chain = ClassChain.of(className).map { draft.add(.text($0)) }
        let keys = [draft.add(.text("$classname")), draft.add(.text("$classes"))]
        let content = Draft.Content.dictionary(
            keys: keys, values: [chain[0], draft.add(.list(.array, chain))])
        let node = draft.add(content)
        guard let key = numbering.recordKey(of: node, in: draft) else {
            preconditionFailure("A class record is invalid.")
        }
        if let slot = records[key] { return slot }
        let slot = draft.addSlot(content)
        records[key] = slot
        return slot
    }
}

/// Makes objects from inline values of the property list, in the form that an archiver would write.
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

    /// The slot of the object that an inline value becomes, including everything inline in it.
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
                // It is defined when everything in it has its slot.
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
            let known: FoundationClass =
                switch kind {
                case .array: .array
                case .set: .set
                case .orderedSet: .orderedSet
                }
            define(node, known.className, [("NS.objects", elements)])
        case .dictionary(let keys, let values):
            define(
                node, FoundationClass.dictionary.className,
                [("NS.keys", keys), ("NS.objects", values)])
        case .scalar, .text, .reference:
            preconditionFailure("Only collections can be used here.")
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
