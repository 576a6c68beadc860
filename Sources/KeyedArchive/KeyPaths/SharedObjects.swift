internal import PropertyList

/// Which objects of an archive stand for equal ones that an edit would add: plain scalars and class
/// records, as the writers of archives share them.
struct SharedObjects {
    private var numbering = ContentNumbering()
    private var scalars: [Int: Draft.Slot] = [:]
    private var records: [ContentNumbering.RecordKey: Draft.Slot] = [:]

    /// Takes the archive's objects that are in use.
    init(of draft: Draft, in use: [Bool]) {
        for slot in 1..<draft.valueStart.slot where use[slot] {
            let node = draft.slots[slot]
            if let number = numbering.number(of: node, in: draft) {
                // A reference to the plain string `$null` is nil.
                if scalars[number] == nil, !draft.isString(node, "$null") { scalars[number] = slot }
            } else if let key = numbering.recordKey(of: node, in: draft) {
                if records[key] == nil { records[key] = slot }
            }
        }
    }

    /// The slot of the archive that is equal to a scalar or class record.
    mutating func slot(equalTo node: Draft.Node, in draft: Draft) -> Draft.Slot? {
        if let number = numbering.number(of: node, in: draft) { return scalars[number] }
        return numbering.recordKey(of: node, in: draft).flatMap { records[$0] }
    }

    /// The slot of an object that is this scalar; a new one where there is none.
    mutating func slot(of scalar: Draft.Node, in draft: inout Draft) -> Draft.Slot {
        guard let number = numbering.number(of: scalar, in: draft) else {
            preconditionFailure("What is to be shared is no scalar.")
        }
        if let slot = scalars[number] { return slot }
        let slot: Draft.Slot
        if draft.isString(scalar, "$null") {
            // A plain string of this text would be nil.
            let key = draft.add(.text("NS.string"))
            slot = draft.addSlot(.dictionary(keys: [], values: []))
            define(slot, "NSString", [key], [scalar], in: &draft)
        } else {
            slot = draft.addSlot(draft.content(of: scalar))
        }
        scalars[number] = slot
        return slot
    }

    /// Says that a slot is an object of a known class with these fields.
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
            preconditionFailure("A class record is no class record.")
        }
        if let slot = records[key] { return slot }
        let slot = draft.addSlot(content)
        records[key] = slot
        return slot
    }
}
