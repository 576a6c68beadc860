internal import PropertyList

/// A value, whole, in flat storage: nodes refer to each other by number, so that neither walking it
/// nor freeing it recurses.
struct ValueTree {
    typealias NodeIndex = Int

    enum Node {
        case scalar(Scalar)
        /// A number that is an object even as a field.
        case numberObject(Scalar)
        /// Bytes that stand inline in an object.
        case inlineBytes(ArraySlice<UInt8>)
        /// Its elements are fields without a name.
        case array(Range<Int>)
        /// A dictionary with string keys, sorted.
        case dictionary(Range<Int>)
        /// An object, its fields sorted, `$class` left out.
        case object(className: Text, Range<Int>)
        /// The entries of `$top`, sorted.
        case top(Range<Int>)
    }

    struct Field {
        let name: Text
        let node: NodeIndex
    }

    private(set) var nodes: [Node] = []
    private(set) var fields: [Field] = []

    mutating func add(_ node: Node) -> NodeIndex {
        nodes.append(node)
        return nodes.count - 1
    }

    /// Puts another node in the place of one.
    mutating func replace(_ index: NodeIndex, with node: Node) {
        nodes[index] = node
    }

    /// Stores fields side by side, and says where.
    mutating func add(_ new: some Collection<Field>) -> Range<Int> {
        let start = fields.count
        fields += new
        return start..<fields.count
    }
}
