import PropertyList

/// The comparison of a property list with its copy, which has arrays for its sets and 64 bits for its
/// reals of 32.
struct ListComparison {
    private let original: PropertyList
    private let copy: PropertyList

    init(_ original: PropertyList, _ copy: PropertyList) {
        self.original = original
        self.copy = copy
    }

    func run() throws {
        var partners: [ObjectIndex?] = Array(repeating: nil, count: original.objectCount)
        var stack = [(original.root, copy.root)]
        while let (one, other) = stack.popLast() {
            if let partner = partners[one.position] {
                try require(partner == other, "An object that was shared no longer is.")
                continue
            }
            partners[one.position] = other
            let (value, copied) = (original.value(at: one), copy.value(at: other))
            try require(areEqual(value, copied), "A value is another one in the copy.")
            let (children, copies) = (original.children(of: value), copy.children(of: copied))
            try require(children.count == copies.count, "A collection has another size.")
            stack += zip(children, copies)
        }
    }

    /// Whether the two are of the same kind, and the same if they are not collections.
    private func areEqual(_ value: PropertyList.Value, _ copied: PropertyList.Value) -> Bool {
        switch (value, copied) {
        case (.boolean(let one), .boolean(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.uid(let one), .uid(let other)): one == other
        case (.real(let one), .real(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern
        case (.singleReal(let one), .real(let other)):
            Double(one).bitPattern == other.bitPattern
        case (.data(let one), .data(let other)):
            original.data(of: one) == copy.data(of: other)
        case (.string(let one), .string(let other)):
            original.isEqual(one, to: other, in: copy)
                && original.text(of: one) == copy.text(of: other)
        case (.array, .array), (.set, .array), (.orderedSet, .array), (.dictionary, .dictionary):
            true
        default:
            false
        }
    }
}
