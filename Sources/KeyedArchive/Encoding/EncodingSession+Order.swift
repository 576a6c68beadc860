internal import PropertyList

/// The order of elements of sets and keys of dictionaries, which are unordered.
extension EncodingSession {
    /// Sorts the members of all sets and the entries of dictionaries, after everything is encoded.
    ///
    /// The order of objects can depend on everything that they refer to.
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

    /// A number for each node that is a separate object.
    private func objectNumbers() -> [Int] {
        let references = EncodedReferences(of: self)
        return references.numbers(from: references.element(at: 0))
    }
}

/// Checks whether different keys become equal when they are encoded.
extension EncodingSession {
    /// Whether two keys of a dictionary have the same encoding.
    ///
    /// This is true if they are the same scalar, the same instance, or values with the same fields
    /// and elements. Two different instances are always different keys.
    func hasKeysAlike(_ node: Node) -> Bool {
        var met: Set<[UInt8]> = []
        for (position, member) in graph.members(of: node).enumerated()
        where position.isMultiple(of: 2) {
            guard met.insert(spelling(of: member)).inserted else { return true }
        }
        return false
    }

    /// Bytes that identify a key.
    private func spelling(of node: Node) -> [UInt8] {
        var bytes: [UInt8] = []
        spell(node, to: &bytes)
        return bytes
    }

    /// The recursion is no deeper than the value, whose depth is limited.
    private func spell(_ node: Node, to bytes: inout [UInt8]) {
        let target = graph.target(of: node)
        if let scalar = graph.scalar(of: target) { return spell(scalar, to: &bytes) }
        guard !graph[target].isInstance else { return spell(UInt64(target), marker: 7, to: &bytes) }
        let members = Array(graph.members(of: target))
        switch graph[target].value {
        case .set:
            spell(UInt64(members.count), marker: 8, to: &bytes)
            let spellings = members.map(spelling(of:))
            bytes += spellings.sorted { $0.lexicographicallyPrecedes($1) }.joined()
        case .pairs:
            spell(UInt64(members.count), marker: 9, to: &bytes)
            let entries = stride(from: 0, to: members.count, by: 2).map {
                spelling(of: members[$0]) + spelling(of: members[$0 + 1])
            }
            bytes += entries.sorted { $0.lexicographicallyPrecedes($1) }.joined()
        case .array:
            spell(UInt64(members.count), marker: 10, to: &bytes)
            for member in members { spell(member, to: &bytes) }
        case .object(let number):
            spell(UInt64(number), marker: 11, to: &bytes)
            spellFields(members, to: &bytes)
        default:
            spellFields(members, to: &bytes)
        }
    }

    private func spellFields(_ members: [Node], to bytes: inout [UInt8]) {
        spell(UInt64(members.count), marker: 12, to: &bytes)
        for member in members.sorted(by: { graph[$0].name < graph[$1].name }) {
            spell(UInt64(graph[member].name), marker: 13, to: &bytes)
            spell(member, to: &bytes)
        }
    }

    private func spell(_ scalar: Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case .null: bytes.append(0)
        case .boolean(let value): spell(value ? 1 : 0, marker: 1, to: &bytes)
        case .integer(let value):
            spell(UInt64(truncatingIfNeeded: value), marker: 2, to: &bytes)
            spell(UInt64(truncatingIfNeeded: value >> 64), marker: 2, to: &bytes)
        case .real(let value): spell(value.bitPattern, marker: 3, to: &bytes)
        case .date(let value): spell(value.bitPattern, marker: 4, to: &bytes)
        case .data(let data):
            spell(UInt64(data.count), marker: 5, to: &bytes)
            bytes += data
        case .string(let text):
            let units = text.codeUnits
            spell(UInt64(units.count), marker: 6, to: &bytes)
            for unit in units { bytes += [UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)] }
        }
    }

    private func spell(_ number: UInt64, marker: UInt8, to bytes: inout [UInt8]) {
        bytes.append(marker)
        withUnsafeBytes(of: number) { bytes += $0 }
    }
}

/// The references between encoded values, from which the order of sets is determined.
private struct EncodedReferences: NumberedGraph {
    /// The kinds of content and labels.
    private enum Kind: UInt64 {
        case array = 0x201
        case set, pairs, dictionary, object, position, name
    }

    private let graph: EncodingGraph
    /// The label of each name.
    private let nameLabels: [UInt64]
    private let classContents: [UInt64]

    init(of session: EncodingSession) {
        graph = session.graph
        nameLabels = session.names.names.map { name in
            var hash = ContentHash(Kind.name.rawValue)
            hash.combine(name.string.utf8)
            return hash.value
        }
        classContents = session.classes.map { met in
            var hash = ContentHash(Kind.object.rawValue)
            for name in met.chain { hash.combine(name) }
            return hash.value
        }
    }

    var nodeCount: Int { graph.entries.count }

    func element(at node: Int) -> GraphElement {
        element(EncodingGraph.Node(node))
    }

    private func element(_ node: EncodingGraph.Node) -> GraphElement {
        if let scalar = graph.scalar(of: node) { return .scalar(hash: scalar.contentHash) }
        let target = graph.target(of: node)
        return .object(Int(target), content: content(of: target))
    }

    private func content(of node: EncodingGraph.Node) -> UInt64 {
        switch graph[node].value {
        case .array: ContentHash(Kind.array.rawValue).value
        case .set: ContentHash(Kind.set.rawValue).value
        case .pairs: ContentHash(Kind.pairs.rawValue).value
        case .object(let number): classContents[Int(number)]
        default: ContentHash(Kind.dictionary.rawValue).value
        }
    }

    func members(of node: Int) -> GraphMembers {
        let node = EncodingGraph.Node(node)
        let members = Array(graph.members(of: node))
        switch graph[node].value {
        case .pairs:
            return .entries(
                stride(from: 0, to: members.count, by: 2).map {
                    (element(members[$0]), element(members[$0 + 1]))
                })
        case .set:
            return .labelled(members.map { (ReferenceGraph.elementLabel, element($0)) })
        case .array:
            return .labelled(members.enumerated().map { (label(of: $0), element($1)) })
        default:
            return .labelled(members.map { (nameLabels[Int(graph[$0].name)], element($0)) })
        }
    }

    private func label(of position: Int) -> UInt64 {
        var label = ContentHash(Kind.position.rawValue)
        label.combine(UInt64(position))
        return label.value
    }
}
