/// A binary property list, read in place: the table of its objects over its bytes.
///
/// Invariants, which `init` establishes and everything else relies on:
///
/// 1. Every object of the table, referred to or not, lies between the header and the offset table,
///    and is of a known type.
/// 2. Every reference is below the number of objects.
/// 3. All objects together are no larger than the bytes that hold them. So what is linear in the
///    objects' sizes is linear in the file, however its offsets overlap.
/// 4. No collection that the root reaches contains itself, and none is nested deeper than the limit.
/// 5. The keys of a dictionary are strings, all different.
///
/// Reading allocates nothing for an object, and uses no recursion, so that neither the size nor the
/// depth of foreign bytes can exhaust the stack.
///
/// ```swift
/// let list = try PropertyList(bytes)
/// if case .array(let references) = list.value(at: list.root) {
///     for element in list.elements(of: references) { print(list.value(at: element)) }
/// }
/// ```
public struct PropertyList: Sendable {
    /// The bytes that were read, unchanged.
    public let bytes: [UInt8]
    let trailer: Trailer
    /// The largest UID among the objects, where there is one; whoever reads UIDs checks it once.
    public private(set) var largestUID: UInt64?

    /// Reads a binary property list and checks all of it.
    ///
    /// - Throws: ``PropertyListError`` with the offset of the first thing found wrong.
    public init(_ bytes: [UInt8], limits: Limits = .standard) throws(PropertyListError) {
        let trailer = try Trailer(of: bytes, limits: limits)
        self.bytes = bytes
        self.trailer = trailer
        var table = TableCheck(of: self)
        try table.run()
        largestUID = table.largestUID
        // The table is given away, so that its marks are changed where they are, not in a copy.
        var containment = ContainmentCheck(after: consume table, depthLimit: limits.depth)
        try containment.run()
    }

    /// The list that ``PropertyListWriter`` wrote, which has the invariants by itself.
    init(written bytes: [UInt8], trailer: Trailer, largestUID: UInt64?) {
        self.bytes = bytes
        self.trailer = trailer
        self.largestUID = largestUID
    }

    /// The object that the property list is.
    public var root: ObjectIndex { trailer.root }

    /// How many objects the table has, those that nothing refers to among them.
    public var objectCount: Int { trailer.objectCount }

    /// The objects of the table in its order.
    public var indices: some Sequence<ObjectIndex> {
        (0..<UInt32(objectCount)).lazy.map(ObjectIndex.init(number:))
    }
}
