internal import KeyedArchive

/// The walk over a draft's graph: the reachable slots, in the order in which the writer of values
/// numbers objects.
///
/// An object comes before the objects that its fields refer to, and its class record after them.
/// Each slot and each node is visited once. The stack is an array.
struct SlotWalk {
    private(set) var order: [Draft.Slot] = []
    private(set) var isReached: [Bool]
    private var isEntered: [Bool]

    init(over draft: Draft) {
        isReached = Array(repeating: false, count: draft.slots.count)
        isEntered = Array(repeating: false, count: draft.nodeCount)
    }

    mutating func walk(from node: Draft.Node, in draft: Draft) {
        var stack = [node]
        while let node = stack.popLast() {
            guard !isEntered[node] else { continue }
            isEntered[node] = true
            switch draft.content(of: node) {
            case .scalar, .text:
                break
            case .reference(let slot):
                guard slot != 0, !isReached[slot] else { break }
                isReached[slot] = true
                order.append(slot)
                stack.append(draft.slots[slot])
            case .list(_, let elements):
                stack += elements.reversed()
            case .dictionary(let keys, let values):
                // The end of the stack is visited first, so the class goes below everything else.
                let classPosition = keys.firstIndex { draft.isString($0, "$class") }
                if let classPosition { stack.append(values[classPosition]) }
                for position in values.indices.reversed() where position != classPosition {
                    stack.append(values[position])
                }
            }
        }
    }

    /// Adds a slot that nothing was found to refer to.
    mutating func enter(_ slot: Draft.Slot, in draft: Draft) {
        guard !isReached[slot] else { return }
        isReached[slot] = true
        order.append(slot)
        walk(from: draft.slots[slot], in: draft)
    }
}
