/// The elements of an array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let session: EncodingSession
    let node: EncodingGraph.Node

    var codingPath: [any CodingKey] { session.path(to: node) }
    var count: Int { Int(session.graph[node].memberCount) }

    func encodeNil() throws {
        _ = try session.addElement(.null, to: node)
    }

    func encode(_ value: Bool) throws {
        _ = try session.addElement(.boolean(value), to: node)
    }

    func encode(_ value: String) throws {
        _ = try session.addElement(session.graph.text(value), to: node)
    }

    func encode(_ value: Double) throws {
        _ = try session.addElement(.real(value), to: node)
    }

    func encode(_ value: Float) throws {
        _ = try session.addElement(.real(Double(value)), to: node)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        try session.encode(value, asMember: session.addElement(pending, to: node))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let member = session.addOpenElement(.dictionary, to: node)
        return KeyedEncodingContainer(KeyedEncoding<NestedKey>(session: session, node: member))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedEncoding(session: session, node: session.addOpenElement(.array, to: node))
    }

    func superEncoder() -> any Encoder {
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        return ValueEncoder(session: session, node: session.addOpenElement(pending, to: node))
    }
}

// MARK: Integers

extension UnkeyedEncoding {
    private func add(_ value: some FixedWidthInteger) throws {
        let integer = try session.integer(value, at: codingPath + [PathKey(intValue: count)])
        _ = try session.addElement(integer, to: node)
    }

    func encode(_ value: Int) throws { try add(value) }
    func encode(_ value: Int8) throws { try add(value) }
    func encode(_ value: Int16) throws { try add(value) }
    func encode(_ value: Int32) throws { try add(value) }
    func encode(_ value: Int64) throws { try add(value) }
    func encode(_ value: Int128) throws { try add(value) }
    func encode(_ value: UInt) throws { try add(value) }
    func encode(_ value: UInt8) throws { try add(value) }
    func encode(_ value: UInt16) throws { try add(value) }
    func encode(_ value: UInt32) throws { try add(value) }
    func encode(_ value: UInt64) throws { try add(value) }
    func encode(_ value: UInt128) throws { try add(value) }
}
