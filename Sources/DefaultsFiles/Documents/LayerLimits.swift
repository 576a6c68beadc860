internal import DefaultsTerms
internal import KeyedArchive
internal import PropertyList

/// How much a file may hold.
///
/// Each limit keeps a file from costing the daemon more than a caller can. A value and the names of
/// all keys are as large at most as the contract allows them.
enum LayerLimits {
    /// The most bytes of all archives together (64 MiB), as much as may wait to go to disk.
    ///
    /// A small binary list can show one large value under very many keys.
    static let totalSize = 64 << 20

    /// The most locks.
    static let lockCount = 1 << 16

    /// How large a value may be that is no archive yet: as many values in it as one call of `SetValue` may
    /// bring.
    static let value = ValueFormLimits(
        size: totalSize, depth: ValueFormLimits.standard.depth,
        count: ContractLimits.maximumValueCount)

    /// How large a property list may be: what a value may have, and the dictionary around.
    static let list = PropertyList.Limits(
        byteCount: LayerFile.maximumSize, objectCount: PropertyList.Limits.standard.objectCount,
        depth: PropertyList.Limits.standard.depth + 1)
}
