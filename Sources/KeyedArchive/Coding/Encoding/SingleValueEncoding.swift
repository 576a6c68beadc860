/// A value that is a single one.
struct SingleValueEncoding: SingleValueEncodingContainer {
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
