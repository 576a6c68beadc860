internal import KeyedArchive
internal import PropertyList

/// How much a file may hold.
///
/// Each limit keeps a file from costing the daemon more than a caller can.
enum LayerLimits {
    /// The largest archive of a value (16 MiB), as the contract's `MaximumValueSize`: a larger one could
    /// not be read by anybody.
    static let valueSize = 16 << 20

    /// The most bytes of all archives together (64 MiB), as much as may wait to go to disk. A small binary
    /// list can show one large value under very many keys.
    static let totalSize = 64 << 20

    /// The most bytes of the names of all keys together (16 MiB), as the contract allows a domain.
    static let nameSize = 16 << 20

    /// The most locks.
    static let lockCount = 1 << 16

    /// How large a value in JSON may be: as many values in it as one call of `SetValue` may bring.
    static let json = ValueFormLimits(
        size: totalSize, depth: ValueFormLimits.standard.depth, count: 1 << 18)

    /// How large a property list may be: what a value may have, and the dictionary around.
    static let list = PropertyList.Limits(
        byteCount: LayerFile.maximumSize, objectCount: PropertyList.Limits.standard.objectCount,
        depth: PropertyList.Limits.standard.depth + 1)
}
