/// The encoder that a value receives: a node of the graph.
struct ValueEncoder: Encoder {
    let session: EncodingSession
    let node: EncodingGraph.Node

    var codingPath: [any CodingKey] { session.path(to: node) }
    var userInfo: [CodingUserInfoKey: Any] { session.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            KeyedEncoding(session: session, node: session.beginFields(at: node)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedEncoding(session: session, node: session.beginElements(at: node))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoding(session: session, node: node)
    }
}

/// The fields of an object, or the entries of a dictionary.
private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let session: EncodingSession
    let node: EncodingGraph.Node

    var codingPath: [any CodingKey] { session.path(to: node) }

    func encodeNil(forKey key: Key) throws {
        try session.addField(key, .null, to: node)
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try session.addField(key, .boolean(value), to: node)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try session.addField(key, session.graph.text(value), to: node)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try session.addField(key, .real(value), to: node)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try session.addField(key, .real(Double(value)), to: node)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        let member = try session.addField(key, pending, to: node)
        session.heldKeys.hold(key, of: member)
        defer { session.heldKeys.removeLast() }
        try session.encode(value, asMember: member)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let member = session.beginFields(at: session.openField(key, of: node))
        return KeyedEncodingContainer(KeyedEncoding<NestedKey>(session: session, node: member))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let member = session.beginElements(at: session.openField(key, of: node))
        return UnkeyedEncoding(session: session, node: member)
    }

    /// The encoder for the superclass, which writes its fields into the same object.
    func superEncoder() -> any Encoder {
        ValueEncoder(session: session, node: node)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        let value = session.superclassValue(of: node)
        return ValueEncoder(session: session, node: session.openField(key, value, of: node))
    }
}

// MARK: Integers

extension KeyedEncoding {
    private func add(_ value: some FixedWidthInteger, _ key: Key) throws {
        let integer = try session.integer(value, at: codingPath + [key])
        try session.addField(key, integer, to: node)
    }

    func encode(_ value: Int, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: Int128, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try add(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try add(value, key) }
}

// MARK: Optionals

/// A nil field of an object is written as nil, as `encodeObject:` does, because Foundation's
/// unarchiver on Linux treats a missing field as an error.
///
/// A dictionary has no entry for it.
extension KeyedEncoding {
    private func encodeAbsence(forKey key: Key) throws {
        if case .object = session.graph[node].value { try encodeNil(forKey: key) }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }

    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsence(forKey: key) }
    }
}

/// The elements of an array.
private struct UnkeyedEncoding: UnkeyedEncodingContainer {
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
        let integer = try session.integer(value, at: codingPath + [PathKey.index(count)])
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

/// A value that is encoded as a single value.
private struct SingleValueEncoding: SingleValueEncodingContainer {
    let session: EncodingSession
    let node: EncodingGraph.Node

    var codingPath: [any CodingKey] { session.path(to: node) }

    func encodeNil() throws {
        try session.setSingle(.null, at: node)
    }

    func encode(_ value: Bool) throws {
        try session.setSingle(.boolean(value), at: node)
    }

    func encode(_ value: String) throws {
        try session.setSingle(session.graph.text(value), at: node)
    }

    func encode(_ value: Double) throws {
        try session.setSingle(.real(value), at: node)
    }

    func encode(_ value: Float) throws {
        try session.setSingle(.real(Double(value)), at: node)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try session.encode(value, asSingle: node)
    }
}

// MARK: Integers

extension SingleValueEncoding {
    private func set(_ value: some FixedWidthInteger) throws {
        try session.setSingle(session.integer(value, at: codingPath), at: node)
    }

    func encode(_ value: Int) throws { try set(value) }
    func encode(_ value: Int8) throws { try set(value) }
    func encode(_ value: Int16) throws { try set(value) }
    func encode(_ value: Int32) throws { try set(value) }
    func encode(_ value: Int64) throws { try set(value) }
    func encode(_ value: Int128) throws { try set(value) }
    func encode(_ value: UInt) throws { try set(value) }
    func encode(_ value: UInt8) throws { try set(value) }
    func encode(_ value: UInt16) throws { try set(value) }
    func encode(_ value: UInt32) throws { try set(value) }
    func encode(_ value: UInt64) throws { try set(value) }
    func encode(_ value: UInt128) throws { try set(value) }
}
