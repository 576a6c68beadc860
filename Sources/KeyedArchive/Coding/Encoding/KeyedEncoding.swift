/// The fields of an object, or the entries of a dictionary.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let session: EncodingSession
    let node: EncodingGraph.Node

    var codingPath: [any CodingKey] { session.path(to: node) }

    func encodeNil(forKey key: Key) throws {
        try session.addField(key.stringValue, .null, to: node)
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try session.addField(key.stringValue, .boolean(value), to: node)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try session.addField(key.stringValue, session.graph.text(value), to: node)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try session.addField(key.stringValue, .real(value), to: node)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try session.addField(key.stringValue, .real(Double(value)), to: node)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let pending = EncodingGraph.Value.pending(type: EncodingGraph.none)
        let member = try session.addField(key.stringValue, pending, to: node)
        try session.encode(value, asMember: member)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let member = session.addOpenField(key.stringValue, .dictionary, to: node)
        return KeyedEncodingContainer(KeyedEncoding<NestedKey>(session: session, node: member))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let member = session.addOpenField(key.stringValue, .array, to: node)
        return UnkeyedEncoding(session: session, node: member)
    }

    /// The encoder for the superclass, which writes its fields into the same object.
    func superEncoder() -> any Encoder {
        ValueEncoder(session: session, node: node)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        let value = session.superclassValue(of: node)
        let member = session.addOpenField(key.stringValue, value, to: node)
        return ValueEncoder(session: session, node: member)
    }
}

// MARK: Integers

extension KeyedEncoding {
    private func add(_ value: some FixedWidthInteger, _ key: Key) throws {
        let integer = try session.integer(value, at: codingPath + [key])
        try session.addField(key.stringValue, integer, to: node)
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

/// A nil field of an object is written as nil, as `encodeObject:` does it: Foundation's unarchiver on
/// Linux takes a field that is not there for an error. A dictionary has no entry for it.
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
