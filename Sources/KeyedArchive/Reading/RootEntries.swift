internal import PropertyList

/// The entries of an archive's root dictionary (invariant 1 of ``KeyedArchive``).
struct RootEntries {
    let archiver: ObjectIndex
    let topKeys: PropertyList.References
    let topValues: PropertyList.References
    let objects: PropertyList.References
    let hasUnknownKeys: Bool

    init(of list: PropertyList) throws(ArchiveError) {
        let rootOffset = list.byteOffset(of: list.root)
        guard case .dictionary(let keys, let values) = list.value(at: list.root) else {
            throw .rootIsNoDictionary(at: rootOffset)
        }
        let fields = Fields(keys: keys, values: values)
        guard let archiver = fields["$archiver", in: list] else {
            throw .missing("$archiver", at: rootOffset)
        }
        // Subclasses of NSKeyedArchiver write their own name here, so any name is taken.
        guard case .string = list.value(at: archiver) else {
            throw .wrongEntry("$archiver", "a string", at: list.byteOffset(of: archiver))
        }
        guard let version = fields["$version", in: list] else {
            throw .missing("$version", at: rootOffset)
        }
        guard list.value(at: version) == .integer(KeyedArchive.version) else {
            throw .wrongEntry("$version", "100000", at: list.byteOffset(of: version))
        }
        guard let top = fields["$top", in: list] else { throw .missing("$top", at: rootOffset) }
        guard case .dictionary(let topKeys, let topValues) = list.value(at: top),
            topKeys.count > 0
        else {
            throw .wrongEntry("$top", "a dictionary with a key", at: list.byteOffset(of: top))
        }
        guard let objects = fields["$objects", in: list] else {
            throw .missing("$objects", at: rootOffset)
        }
        guard case .array(let references) = list.value(at: objects) else {
            throw .wrongEntry("$objects", "an array", at: list.byteOffset(of: objects))
        }
        self.archiver = archiver
        self.topKeys = topKeys
        self.topValues = topValues
        self.objects = references
        hasUnknownKeys = fields.count > 4
    }
}
