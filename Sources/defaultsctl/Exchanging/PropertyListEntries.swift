import DefaultsClient
import KeyedArchive
import PropertyList

/// The entries of a property list that is a dictionary, as keys of a domain.
///
/// The property list of a keyed archive in the place of a value, as `export` writes objects, is that
/// archive; a dictionary of an application has not all of its keys.
struct PropertyListEntries {
    private let list: PropertyList
    private let keys: PropertyList.References
    private let values: PropertyList.References

    /// How many there are.
    var count: Int { keys.count }

    /// - Returns: nil where the list is no dictionary.
    init?(of list: PropertyList) {
        guard case .dictionary(let keys, let values) = list.value(at: list.root) else { return nil }
        self.list = list
        self.keys = keys
        self.values = values
    }

    /// Reads the entries one after the other.
    func read(_ take: (DefaultsEntry) throws -> Void) throws {
        for position in 0..<keys.count {
            guard let key = list.text(at: list.element(position, of: keys))?.string else {
                throw ToolError.keyIsNoText
            }
            let value = list.element(position, of: values)
            let entry = DefaultsEntry(key: key, archive: try archive(of: value, key: key))
            try take(entry)
        }
    }

    private func archive(of index: ObjectIndex, key: String) throws -> KeyedArchive {
        do {
            if isArchive(index) { return try archive(copiedFrom: index) }
            if let archive = archive(inDataOf: index) { return archive }
            var builder = ValueFormBuilder()
            try PropertyListForm(of: list).render(index, into: &builder)
            return builder.finish()
        } catch {
            throw ToolError.cannotTake(key, because: error)
        }
    }

    /// The archive that a dictionary holds as data, as `export` to XML writes it.
    private func archive(inDataOf index: ObjectIndex) -> KeyedArchive? {
        guard case .dictionary(let keys, let values) = list.value(at: index), keys.count == 1,
            list.text(at: list.element(0, of: keys)) == ExportedDomain.archiveKey,
            case .data(let range) = list.value(at: list.element(0, of: values))
        else { return nil }
        return try? KeyedArchive(validating: Array(list.data(of: range)))
    }

    private func isArchive(_ index: ObjectIndex) -> Bool {
        guard case .dictionary(let keys, let values) = list.value(at: index) else { return false }
        let names: [StaticString] = ["$archiver", "$objects", "$top", "$version"]
        return keys.count >= names.count
            && names.allSatisfy { list.value(ofKey: $0, keys: keys, values: values) != nil }
    }

    private func archive(copiedFrom index: ObjectIndex) throws -> KeyedArchive {
        var writer = PropertyListWriter()
        var copy = PropertyListCopy(of: list)
        let root = copy.add(index, to: &writer)
        return try KeyedArchive(validating: writer.finish(root: root))
    }
}
