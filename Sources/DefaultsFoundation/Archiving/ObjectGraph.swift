internal import KeyedArchive
internal import PropertyList

/// Objects as they are to be written, whole, in flat storage: nodes refer to each other by number.
struct ObjectGraph {
    typealias NodeIndex = Int

    enum Node {
        /// An object whose content is not known yet. One that is only ever referred to conditionally
        /// stays so, and is written as nil.
        case pending
        case scalar(Scalar)
        /// An object; its chain is its class and what that inherits of.
        case object(chain: [Text], fields: [Field])
        /// A set, whose elements have no order.
        case set(chain: [Text], [NodeIndex])
        case dictionary(chain: [Text], keys: [NodeIndex], values: [NodeIndex])
        /// A set that knows how often each element is in it.
        case countedSet([NodeIndex], counts: [Int])
    }

    typealias Field = ArchiveWriter.Field
    typealias Value = ArchiveWriter.Value

    private(set) var nodes: [Node] = []

    /// Takes the next number, for an object that is defined later.
    mutating func reserve() -> NodeIndex {
        nodes.append(.pending)
        return nodes.count - 1
    }

    mutating func define(_ index: NodeIndex, as node: Node) {
        nodes[index] = node
    }
}
