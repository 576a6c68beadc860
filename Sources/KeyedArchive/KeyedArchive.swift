public import PropertyList

/// A keyed archive, as NSKeyedArchiver writes it: a graph of objects in a binary property list.
///
/// An archive is checked as a whole and then read in place. No object of it is ever made, so no
/// foreign bytes can make this process run a class's code.
///
/// Invariants, which `init(validating:limits:)` establishes and everything else relies on:
///
/// 1. The bytes are a property list with the invariants of `PropertyList`; its root has
///    `$archiver`, `$version`, a `$top` with one key or more, and `$objects`.
/// 2. Every UID, wherever it stands, is below the number of objects.
/// 3. A dictionary in `$objects` is an object, whose `$class` refers to a class record, or it is a
///    class record, which has `$classname` and `$classes`.
/// 4. No entry of `$objects` is a UID, so that a UID is resolved in one step.
///
/// Objects may refer to each other in circles and share others. Whoever walks the graph does so
/// without recursion, and counts its steps.
///
/// ```swift
/// let archive = try KeyedArchive(validating: bytes)
/// print(String(decoding: try archive.json(), as: UTF8.self))
/// ```
public struct KeyedArchive: Sendable {
    /// The one version there is.
    package static let version: Int128 = 100_000

    /// How large an archive may be that is read.
    ///
    /// It is its bytes, its property list's objects, and the nesting of property list collections
    /// that are limited; references between objects may be of any depth.
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

    /// Checks that bytes are a keyed archive, without making any object.
    ///
    /// The time is linear in the number of bytes.
    ///
    /// - Throws: ``ArchiveError`` with the offset of the first thing found wrong.
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

    /// The archive of a list whose objects were checked, or are checked next.
    init(list: PropertyList, root: RootEntries) {
        self.list = list
        archiver = root.archiver
        topKeys = root.topKeys
        topValues = root.topValues
        objects = root.objects
        hasUnknownKeys = root.hasUnknownKeys
    }
}
