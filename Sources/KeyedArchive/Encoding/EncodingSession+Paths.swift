/// Paths of nodes in the value.
extension EncodingSession {
    /// The path from the root to a node.
    func path(to node: Node) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = node
        while graph[node].parent != EncodingGraph.none {
            let parent = graph[node].parent
            if let key = key(of: node, in: parent) { path.append(key) }
            node = parent
        }
        return path.reversed()
    }

    private func key(of node: Node, in parent: Node) -> (any CodingKey)? {
        if let key = heldKeys.key(of: node) { return key }
        guard graph[node].name == EncodingGraph.none else {
            let name = names[graph[node].name]
            guard case .object = graph[parent].value, name.utf8.first == UInt8(ascii: "$") else {
                return PathKey.name(name)
            }
            return PathKey.name(String(name.dropFirst()))
        }
        let isMember = graph.members(of: parent).contains(node)
        let position = graph.members(of: parent).prefix { $0 != node }.reduce(0) { sum, _ in sum + 1
        }
        guard isMember else { return nil }
        // The members of pairs are alternately keys and values.
        if case .pairs = graph[parent].value { return PathKey.index(position / 2) }
        return PathKey.index(position)
    }
}
