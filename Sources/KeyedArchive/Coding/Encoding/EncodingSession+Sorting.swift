/// The order of what has none of its own: elements of sets, and keys of dictionaries.
extension EncodingSession {
    /// Puts the members of all sets, and the entries of dictionaries, in their order, once all is
    /// encoded: which object comes first can depend on anything that it refers to.
    func sortCollections() {
        var numbers: [Int]?
        for node in unordered {
            let members = Array(graph.members(of: node))
            let stride = if case .pairs = graph[node].value { 2 } else { 1 }
            guard members.count > stride else { continue }
            let keys = Swift.stride(from: 0, to: members.count, by: stride).map { start in
                if let scalar = graph.scalar(of: members[start]) {
                    return ElementKey.scalar(scalar)
                }
                let known = numbers ?? objectNumbers()
                numbers = known
                return .object(known[Int(graph.target(of: members[start]))])
            }
            let sorted = ElementKey.positions(of: keys).flatMap {
                members[$0 * stride..<($0 + 1) * stride]
            }
            graph.setMembers(sorted, of: node)
        }
    }

    /// A number for each node that is an object of its own.
    private func objectNumbers() -> [Int] {
        let references = EncodedReferences(of: self)
        return references.numbers(from: references.element(at: 0))
    }
}
