/// Where in the value a node stands.
extension EncodingSession {
    /// The way from the root to a node.
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

    private func key(of node: Node, in parent: Node) -> PathKey? {
        guard graph[node].name == EncodingGraph.none else {
            let name = names[graph[node].name]
            guard case .object = graph[parent].value, name.utf8.first == UInt8(ascii: "$") else {
                return PathKey(stringValue: name)
            }
            return PathKey(stringValue: String(name.dropFirst()))
        }
        let isMember = graph.members(of: parent).contains(node)
        let position = graph.members(of: parent).prefix { $0 != node }.reduce(0) { sum, _ in sum + 1
        }
        guard isMember else { return nil }
        // The members of pairs are keys and values in turn.
        if case .pairs = graph[parent].value { return PathKey(intValue: position / 2) }
        return PathKey(intValue: position)
    }
}
