package import KeyedArchive
package import PropertyList

/// The entries of a property list that is a dictionary, as keys of a domain.
///
/// If a value is the property list of a keyed archive, as `export` writes objects, it becomes that
/// archive. If an application's own dictionary has such keys, but is not a valid archive, it stays
/// a dictionary.
package struct PropertyListEntries {
    /// The key of a dictionary with the data of an archive that XML cannot contain as a property
    /// list.
    package static let archiveKey: Text = "$archive"

    private let list: PropertyList
    private let keys: PropertyList.References
    private let values: PropertyList.References
    /// Whether keys of values that begin with `$` spell objects, as in JSON.
    package var readsSpellings = false

    /// The number of entries.
    package var count: Int { keys.count }

    /// - Returns: nil if the list is not a dictionary.
    package init?(of list: PropertyList) {
        self.init(of: list, at: list.root)
    }

    /// The entries of a dictionary inside a list.
    ///
    /// - Returns: nil if it is not a dictionary.
    package init?(of list: PropertyList, at index: ObjectIndex) {
        guard case .dictionary(let keys, let values) = list.value(at: index) else { return nil }
        self.list = list
        self.keys = keys
        self.values = values
    }

    /// The key of an entry; nil if it has an unpaired surrogate, which no key may have.
    ///
    /// - Parameter position: A number from 0 up to ``count``.
    package func key(at position: Int) -> String? {
        list.text(at: list.element(position, of: keys))?.string
    }

    /// The object of an entry's value in the list.
    package func value(at position: Int) -> ObjectIndex {
        list.element(position, of: values)
    }

    /// The archive of an entry's value.
    ///
    /// - Parameter limits: The limits for the value, if it is not already an archive.
    /// - Throws: The reason that the value cannot be an archive: `ArchiveError`, `ValueFormError`
    ///   or ``ReferenceOutsideArchive``.
    package func archive(
        at position: Int, limits: ValueFormLimits = .standard
    ) throws -> KeyedArchive {
        try archive(of: value(at: position), limits: limits)
    }

    /// The archive of a value in the list, as for an entry.
    package func archive(
        of index: ObjectIndex, limits: ValueFormLimits = .standard
    ) throws -> KeyedArchive {
        if let archive = archive(inDataOf: index) { return archive }
        guard isArchive(index) else { return try plainValue(at: index, limits) }
        do {
            return try archive(copiedFrom: index)
        } catch {
            // A value with references can only be a damaged archive, so its own error is reported.
            guard let value = try? plainValue(at: index, limits) else { throw error }
            return value
        }
    }

    /// Whether a dictionary with this key could be mistaken for an archive.
    package static func mayBeKeyOfArchive(_ key: Text) -> Bool {
        key == "$archiver" || key == archiveKey
    }

    private func plainValue(
        at index: ObjectIndex, _ limits: ValueFormLimits
    ) throws -> KeyedArchive {
        var builder = ValueFormBuilder(limits: limits)
        try PropertyListForm(of: list, readsSpellings: readsSpellings).render(index, into: &builder)
        return builder.finish()
    }

    /// The archive that a dictionary has as data, as `export` to XML writes it.
    private func archive(inDataOf index: ObjectIndex) -> KeyedArchive? {
        guard case .dictionary(let keys, let values) = list.value(at: index), keys.count == 1,
            list.text(at: list.element(0, of: keys)) == Self.archiveKey,
            case .data(let range) = list.value(at: list.element(0, of: values))
        else { return nil }
        return try? KeyedArchive(validating: Array(list.data(of: range)))
    }

    /// Whether a whole list is a keyed archive, and so not a domain.
    package static func isArchive(_ list: PropertyList) -> Bool {
        PropertyListEntries(of: list)?.isArchive(list.root) ?? false
    }

    private func isArchive(_ index: ObjectIndex) -> Bool {
        guard case .dictionary(let keys, let values) = list.value(at: index) else { return false }
        let names: [StaticString] = ["$archiver", "$objects", "$top", "$version"]
        return keys.count >= names.count
            && names.allSatisfy { list.value(ofKey: $0, keys: keys, values: values) != nil }
    }

    private func archive(copiedFrom index: ObjectIndex) throws -> KeyedArchive {
        try KeyedArchive(copying: index, of: list)
    }
}
