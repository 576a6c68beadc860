public import PropertyList

/// A keyed archive, as NSKeyedArchiver writes it: a graph of objects in a binary property list.
///
/// An archive is checked as a whole and then read in place. None of its objects is ever created, so
/// foreign bytes cannot make this process run the code of a class.
///
/// Invariants, which `init(validating:limits:)` establishes and everything else relies on:
///
/// 1. The bytes are a property list with the invariants of `PropertyList`; its root has
///    `$archiver`, `$version`, a `$top` with one key or more, and `$objects`.
/// 2. Every UID, wherever it is, is below the number of objects.
/// 3. A dictionary in `$objects` is an object, whose `$class` refers to a class record, or it is a
///    class record, which has `$classname` and `$classes`.
/// 4. No entry of `$objects` is a UID, so a UID is resolved in one step.
///
/// Objects may refer to each other in circles and share others. Code that walks the graph does not
/// recurse, and counts its steps.
///
/// ```swift
/// let archive = try KeyedArchive(validating: bytes)
/// print(String(decoding: try archive.json(), as: UTF8.self))
/// ```
public struct KeyedArchive: Sendable {
    /// The only version of the format.
    package static let version: Int128 = 100_000

    /// How large an archive may be.
    ///
    /// The limits are for the bytes, the objects of the property list, and the nesting of its
    /// collections. References between objects may have any depth.
    public typealias Limits = PropertyList.Limits

    package let list: PropertyList
    package let archiver: ObjectIndex
    package let topKeys: PropertyList.References
    package let topValues: PropertyList.References
    package let objects: PropertyList.References
    /// Whether the root has keys that this module does not know.
    let hasUnknownKeys: Bool

    /// The bytes of the archive, unchanged.
    public var bytes: [UInt8] { list.bytes }

    /// Validates bytes as a keyed archive, without creating any object.
    ///
    /// The time is linear in the number of bytes.
    ///
    /// - Throws: ``ArchiveError`` with the offset of the first fault.
    public init(
        validating bytes: [UInt8], limits: Limits = .standard
    ) throws(ArchiveError) {
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(bytes, limits: limits)
        } catch {
            throw ArchiveError(error)
        }
        let root = try RootEntries(of: list)
        self.init(list: list, root: root)
        var check = ObjectCheck(of: root.objects, in: list)
        try check.run()
    }

    /// Makes the archive of a list.
    ///
    /// The caller validates its objects before or after.
    init(list: PropertyList, root: RootEntries) {
        self.list = list
        archiver = root.archiver
        topKeys = root.topKeys
        topValues = root.topValues
        objects = root.objects
        hasUnknownKeys = root.hasUnknownKeys
    }
}

/// Steps from one object of the graph to the next.
extension KeyedArchive {
    /// The object that a UID refers to.
    package func object(_ uid: UInt64) -> ObjectIndex {
        list.element(Int(uid), of: objects)
    }

    /// Whether a UID means nil: it is 0, or refers to the string `$null`.
    package func isNil(_ uid: UInt64) -> Bool {
        guard uid != 0 else { return true }
        guard case .string(let range) = list.value(at: object(uid)) else { return false }
        return list.isEqual(range, to: "$null")
    }

    /// The name of the class of an object, or of a class record itself.
    package func className(of fields: Fields) -> PropertyList.StringRange {
        if let reference = fields["$class", in: list] {
            guard case .uid(let uid) = list.value(at: reference),
                let record = Fields(of: list, at: object(uid))
            else { preconditionFailure("The $class of an object is not a class record.") }
            return className(ofRecord: record)
        }
        return className(ofRecord: fields)
    }

    private func className(ofRecord fields: Fields) -> PropertyList.StringRange {
        guard let name = fields["$classname", in: list],
            case .string(let range) = list.value(at: name)
        else {
            preconditionFailure("A class record has no name.")
        }
        return range
    }
}

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
        // Subclasses of NSKeyedArchiver write their own name here, so any name is accepted.
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
