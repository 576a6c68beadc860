/// A collection that is encoded as a whole: faster, and in its own order.
protocol EncodedCollection {
    static func encode<Value>(
        _ value: Value, at node: EncodingGraph.Node, in session: EncodingSession) throws
}

extension Array: EncodedCollection where Element: Encodable {
    static func encode<Value>(
        _ value: Value, at node: EncodingGraph.Node, in session: EncodingSession
    ) throws {
        // The types are compared first: a cast of an empty array succeeds whatever its elements.
        if Element.self == UInt8.self, let bytes = value as? [UInt8] {
            let (start, count) = session.graph.store(bytes)
            return session.graph.set(.bytes(start: start, count: count), at: node)
        }
        session.graph.set(.array, at: node)
        if Element.self == String.self, let strings = value as? [String] {
            for string in strings {
                _ = session.graph.addMember(of: node, session.graph.text(string))
            }
        } else if let elements = value as? [Element] {
            let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
            for element in elements {
                let member = session.graph.addMember(of: node, pending)
                try session.encode(element, at: member)
            }
        }
    }
}

extension Set: EncodedCollection where Element: Encodable {
    static func encode<Value>(
        _ value: Value, at node: EncodingGraph.Node, in session: EncodingSession
    ) throws {
        session.graph.set(.set, at: node)
        guard let elements = value as? Set<Element> else { return }
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        for element in elements {
            try session.encode(element, at: session.graph.addMember(of: node, pending))
        }
        session.unordered.append(node)
    }
}

extension Dictionary: EncodedCollection where Key: Encodable, Value: Encodable {
    static func encode<Given>(
        _ value: Given, at node: EncodingGraph.Node, in session: EncodingSession
    ) throws {
        guard let entries = value as? [Key: Value] else { return }
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        if Key.self == String.self {
            session.graph.set(.dictionary, at: node)
            for (key, value) in entries {
                guard let key = key as? String else { continue }
                let member = try session.addField(PathKey.name(key), pending, to: node)
                try session.encode(value, at: member)
            }
            return
        }
        session.graph.set(.pairs, at: node)
        for (key, value) in entries {
            try session.encode(key, at: session.graph.addMember(of: node, pending))
            try session.encode(value, at: session.graph.addMember(of: node, pending))
        }
        guard !session.hasKeysAlike(node) else {
            throw EncodingError.sameKeys(at: session.path(to: node))
        }
        session.unordered.append(node)
    }
}
