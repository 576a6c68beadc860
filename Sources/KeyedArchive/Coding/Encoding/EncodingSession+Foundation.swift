/// The types of Foundation, which is not imported: what they encode themselves as is turned into
/// what their NS classes write.
extension EncodingSession {
    func encode(
        _ value: some Encodable, as foundation: TypeFacts.Foundation, of type: UInt32,
        at node: Node
    ) throws {
        if foundation == .data, let bytes = TypeFacts.of(Swift.type(of: value)).bytes {
            let (start, count) = store(value, as: bytes)
            return graph.set(.data(start: start, count: count), at: node)
        }
        graph.set(.pending(type: type), at: node)
        try value.encode(to: ValueEncoder(session: self, node: node))
        switch (foundation, graph[node].value) {
        case (.date, .real), (.date, .integer):
            // NSDate has seconds since 2001-01-01 UTC, and Date encodes just these.
            replace(node, "NS.time", graph[node].value, of: type)
        case (.uuid, .text(let start, let count)):
            guard let bytes = UUIDText.bytes(graph.content[start..<start + count]) else { break }
            let stored = graph.store(bytes)
            replace(
                node, "NS.uuidbytes", .bytes(start: stored.start, count: stored.count), of: type)
        case (.url, .object):
            completeURL(node)
        default:
            // Another Foundation's type that encodes itself otherwise: it stays as it is.
            break
        }
    }

    private func store<Bytes: RangeReplaceableCollection<UInt8>>(
        _ value: some Encodable, as type: Bytes.Type
    ) -> (start: Int, count: Int) {
        graph.store((value as? Bytes) ?? Bytes())
    }

    /// Makes an object of a value that was encoded as a scalar.
    private func replace(
        _ node: Node, _ name: String, _ value: EncodingGraph.Value, of type: UInt32
    ) {
        graph.set(.pending(type: type), at: node)
        _ = graph.addMember(of: beginFields(at: node), name: names.number(of: name), value)
    }

    /// URL encodes `relative`, and `base` where it has one; NSURL has both, with its prefix.
    private func completeURL(_ node: Node) {
        let base = names.number(of: "NS.base")
        for member in Array(graph.members(of: node)) {
            graph.rename(member, names.number(of: "NS." + names[graph[member].name]))
        }
        if graph.member(of: node, named: base) == nil {
            _ = graph.addMember(of: node, name: base, .null)
        }
    }
}

extension TypeFacts.Foundation {
    /// The class whose objects stand for values of the type.
    var className: String {
        switch self {
        case .date: "NSDate"
        case .data: "NSData"
        case .url: "NSURL"
        case .uuid: "NSUUID"
        }
    }
}
