import PropertyList

/// The check, slow and plain, of what the reader promises for what the root reaches: no collection
/// contains itself, none is too deep, and the keys of a dictionary are strings, all different.
struct ListCheck {
    private let list: PropertyList

    init(of list: PropertyList) {
        self.list = list
    }

    func run() throws(Violation) {
        var heights = Array(repeating: 0, count: list.objectCount)
        for index in try list.elementsFirst() {
            let value = list.value(at: index)
            if case .dictionary(let keys, _) = value { try checkKeys(list.elements(of: keys)) }
            switch value {
            case .array, .set, .orderedSet, .dictionary:
                let highest = list.children(of: value).map { heights[$0.position] }.max()
                heights[index.position] = 1 + (highest ?? 0)
            default:
                break
            }
        }
        try require(
            heights[list.root.position] <= PropertyList.Limits.standard.depth,
            "A list deeper than the limit was read.")
    }

    private func checkKeys(_ keys: [ObjectIndex]) throws(Violation) {
        let texts = keys.compactMap { list.text(at: $0)?.codeUnits }
        try require(texts.count == keys.count, "A dictionary has a key that is no string.")
        try require(Set(texts).count == keys.count, "A dictionary has a key twice.")
    }
}
