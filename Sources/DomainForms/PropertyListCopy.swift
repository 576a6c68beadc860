package import KeyedArchive
package import PropertyList

/// Copies objects of a property list to another one.
///
/// Each object is copied once, even if it is shared. A reference that is spelled as in XML becomes one.
package struct PropertyListCopy {
    private let list: PropertyList
    private var copies: [ObjectIndex: ObjectIndex] = [:]

    /// Prepares to copy objects of one list.
    package init(of list: PropertyList) {
        self.list = list
    }

    /// Adds an object and its contents to the other list, and returns its number there.
    package mutating func add(_ root: ObjectIndex, to writer: inout PropertyListWriter)
        -> ObjectIndex
    {
        // The contents of a collection are copied before it. A list has no cycles.
        var waiting = [root]
        while let index = waiting.last {
            let missing = copies[index] == nil ? parts(of: index).filter { copies[$0] == nil } : []
            guard missing.isEmpty else {
                waiting += missing
                continue
            }
            waiting.removeLast()
            if copies[index] == nil { copies[index] = copy(index, to: &writer) }
        }
        return self[root]
    }

    private subscript(index: ObjectIndex) -> ObjectIndex {
        guard let copy = copies[index] else { preconditionFailure("A part was not copied.") }
        return copy
    }

    private func parts(of index: ObjectIndex) -> [ObjectIndex] {
        switch list.value(at: index) {
        case .array(let elements), .set(let elements), .orderedSet(let elements):
            list.elements(of: elements)
        case .dictionary(let keys, let values)
        where list.spelledReference(keys: keys, values: values) == nil:
            list.elements(of: keys) + list.elements(of: values)
        default: []
        }
    }

    private func copy(
        _ index: ObjectIndex, to writer: inout PropertyListWriter
    ) -> ObjectIndex {
        func copies(of references: PropertyList.References) -> [ObjectIndex] {
            list.elements(of: references).map { self[$0] }
        }
        switch list.value(at: index) {
        case .uid(let uid): return writer.add(uid: uid)
        case .array(let elements): return writer.add(array: copies(of: elements))
        case .set(let elements): return writer.add(set: copies(of: elements))
        case .orderedSet(let elements): return writer.add(orderedSet: copies(of: elements))
        case .dictionary(let keys, let values):
            let spelled = list.spelledReference(keys: keys, values: values)
            if let uid = spelled.flatMap(UInt64.init(exactly:)) { return writer.add(uid: uid) }
            return writer.add(keys: copies(of: keys), values: copies(of: values))
        default: return writer.add(copyOf: index, in: list)
        }
    }
}

extension KeyedArchive {
    /// The archive that is a dictionary of a property list, whose references may be spelled as in XML.
    ///
    /// - Throws: `ArchiveError` if it is not an archive.
    package init(copying root: ObjectIndex, of list: PropertyList) throws(ArchiveError) {
        var writer = PropertyListWriter()
        var copy = PropertyListCopy(of: list)
        let root = copy.add(root, to: &writer)
        try self.init(validating: writer.finish(root: root))
    }
}
