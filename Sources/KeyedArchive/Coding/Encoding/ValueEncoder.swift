/// The encoder that a value is given: a place in the graph.
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
