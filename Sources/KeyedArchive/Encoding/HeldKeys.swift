/// The callers' own keys of the members that are being encoded, for their paths.
///
/// A key may have more than its name, such as a number. When a member is complete, its key is
/// forgotten, and its name is enough.
struct HeldKeys {
    private struct Entry {
        let node: EncodingGraph.Node
        let key: any CodingKey
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }

    mutating func hold(_ key: some CodingKey, of node: EncodingGraph.Node) {
        entries.append(Entry(node: node, key: key))
    }

    /// Forgets the keys that were held last.
    mutating func removeLast(_ count: Int = 1) {
        entries.removeLast(count)
    }

    /// The key of a node, if it is held.
    func key(of node: EncodingGraph.Node) -> (any CodingKey)? {
        entries.last { $0.node == node }?.key
    }
}
