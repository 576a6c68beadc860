internal import KeyedArchive
internal import PropertyList

/// Writes a draft as an archive.
///
/// 1. A node is written once, so shared parts of the property list stay shared.
/// 2. The bytes depend only on the draft and the order of its slots.
struct DraftWriter {
    private let draft: Draft
    /// The UIDs of the slots that are written.
    private var uids: [UInt64?]
    private let order: [Draft.Slot]
    private var list = PropertyListWriter()
    private var written: [ObjectIndex?]

    /// - Parameter order: The slots in the order of their UIDs. Slot 0 is the first.
    init(of draft: Draft, order: [Draft.Slot]) {
        self.draft = draft
        self.order = order
        uids = Array(repeating: nil, count: draft.slots.count)
        for (uid, slot) in order.enumerated() { uids[slot] = UInt64(uid) }
        written = Array(repeating: nil, count: draft.nodeCount)
    }

    /// Makes an archive with the object of a slot as its root.
    ///
    /// Its nesting may be as deep as that of the original archive.
    consuming func archive(root: Draft.Slot) throws(ArchiveError) -> KeyedArchive {
        let root = list.add(uid: uid(of: root))
        let top = list.add(keys: [list.add(string: "root")], values: [root])
        return try finish(
            [
                ("$version", list.add(integer: KeyedArchive.version)),
                ("$archiver", list.add(string: "NSKeyedArchiver")), ("$top", top),
                ("$objects", objects()),
            ], depth: .max)
    }

    /// The edited archive, with all entries of its root in their order.
    consuming func editedArchive() throws(ArchiveError) -> KeyedArchive {
        var entries: [(Text, ObjectIndex)] = []
        guard let root = Fields(of: draft.base.list, at: draft.base.list.root) else {
            preconditionFailure("The root of an archive is not a dictionary.")
        }
        for position in 0..<root.count {
            let name = root.name(at: position, in: draft.base.list)
            let value = root.value(at: position, in: draft.base.list)
            switch name {
            case "$top": entries.append((name, write(draft.top)))
            case "$objects": entries.append((name, objects()))
            default: entries.append((name, write(value.position)))
            }
        }
        return try finish(entries, depth: KeyedArchive.Limits.standard.depth)
    }

    /// The archive is validated again, so nesting that is too deep is found.
    ///
    /// The other limits do not apply.
    private consuming func finish(
        _ entries: [(key: Text, value: ObjectIndex)], depth: Int
    ) throws(ArchiveError) -> KeyedArchive {
        let keys = entries.map { list.add(string: $0.key) }
        let root = list.add(keys: keys, values: entries.map(\.value))
        let limits = KeyedArchive.Limits(byteCount: .max, objectCount: .max, depth: depth)
        return try KeyedArchive(validating: list.finish(root: root), limits: limits)
    }
}

// MARK: Nodes

extension DraftWriter {
    private mutating func objects() -> ObjectIndex {
        let objects = order.map { write(draft.slots[$0]) }
        return list.add(array: objects)
    }

    private func uid(of slot: Draft.Slot) -> UInt64 {
        guard let uid = uids[slot] else {
            preconditionFailure("A written node refers to an object that is not written.")
        }
        return uid
    }

    /// Writes a node, after the nodes that it contains.
    private mutating func write(_ root: Draft.Node) -> ObjectIndex {
        var stack = [root]
        while let node = stack.last {
            guard written[node] == nil else {
                stack.removeLast()
                continue
            }
            let content = draft.content(of: node)
            let missing = content.children.filter { written[$0] == nil }
            guard missing.isEmpty else {
                stack += missing.reversed()
                continue
            }
            written[node] = add(content)
        }
        return result(root)
    }

    private func result(_ node: Draft.Node) -> ObjectIndex {
        guard let index = written[node] else {
            preconditionFailure("A node was not written before the node that contains it.")
        }
        return index
    }

    private mutating func add(_ content: Draft.Content) -> ObjectIndex {
        switch content {
        case .scalar(let index, let source): list.add(copyOf: index, in: source)
        case .text(let text): list.add(string: text)
        case .reference(let slot): list.add(uid: uid(of: slot))
        case .list(.array, let elements): list.add(array: elements.map(result))
        case .list(.set, let elements): list.add(set: elements.map(result))
        case .list(.orderedSet, let elements): list.add(orderedSet: elements.map(result))
        case .dictionary(let keys, let values):
            list.add(keys: keys.map(result), values: values.map(result))
        }
    }
}
