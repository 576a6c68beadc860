internal import DefaultsModel
internal import DefaultsTerms
internal import KeyedArchive
internal import PropertyList

/// The values and locks of a file as they are read, entry by entry; it knows the rules, but not the
/// places.
struct LayerContents {
    /// The name that holds the locks, and is not a key.
    static let locked: Text = "$locked"

    /// Whether the file is one that locks.
    let canLock: Bool
    private(set) var values: [(key: Key, archive: KeyedArchive)] = []
    private(set) var locks: [Lock] = []
    private var nameSize = 0
    private var totalSize = 0

    init(of file: LayerFile) {
        canLock = file.domain.layer == .managed
    }

    /// The key that a name is.
    mutating func key(_ name: Text) throws(LayerFault) -> Key {
        guard let name = name.string else { throw .keyIsNoText }
        guard name.utf8.first != UInt8(ascii: "$") else { throw .unknownName(name) }
        nameSize += name.utf8.count
        guard nameSize <= ContractLimits.maximumNameBytes else {
            throw .tooManyNames(limit: ContractLimits.maximumNameBytes)
        }
        do throws(ModelError) {
            return try Key(name)
        } catch {
            throw .noKey(error)
        }
    }

    /// Adds the value of a key that has none yet.
    mutating func add(_ archive: KeyedArchive, for key: Key) throws(LayerFault) {
        let size = archive.bytes.count
        guard size <= ContractLimits.maximumValueSize else {
            throw .valueTooLarge(key, size: size, limit: ContractLimits.maximumValueSize)
        }
        totalSize += size
        guard totalSize <= LayerLimits.totalSize else {
            throw .tooLarge(limit: LayerLimits.totalSize)
        }
        values.append((key, archive))
    }

    /// Takes a lock.
    mutating func add(lock text: Text) throws(LayerFault) {
        guard let pattern = text.string else { throw .lockIsNoText }
        guard let lock = Lock(pattern) else { throw .noLock(pattern) }
        guard locks.count < LayerLimits.lockCount else {
            throw .tooManyLocks(limit: LayerLimits.lockCount)
        }
        locks.append(lock)
    }

    /// Remarks about locks that change nothing, by their positions.
    ///
    /// Only the first ones are reported.
    func idleLocks() -> [(position: Int, fault: LayerFault)] {
        let most = 10
        let keys = Set(locks.isEmpty ? [] : values.map { Lock($0.key.name) })
        var known: Set<Lock> = []
        var idle: [(position: Int, fault: LayerFault)] = []
        for (position, lock) in locks.enumerated() where idle.count < most {
            if !known.insert(lock).inserted {
                idle.append((position, .lockTwice(lock)))
            } else if keys.contains(lock) {
                idle.append((position, .lockOfValue(lock)))
            }
        }
        return idle
    }
}

/// How much a file may hold.
///
/// Each limit keeps a file from costing the daemon more than a caller can. A value, and the names of all
/// keys, may be as large as the contract allows.
enum LayerLimits {
    /// The most bytes of all archives together (64 MiB), as much as may wait to go to disk.
    ///
    /// A small binary list can show one large value under very many keys.
    static let totalSize = 64 << 20

    /// The most locks.
    static let lockCount = 1 << 16

    /// How large a value may be that is not an archive yet: as many values in it as one call of
    /// `SetValue` may bring.
    static let value = ValueFormLimits(
        size: totalSize, depth: ValueFormLimits.standard.depth,
        count: ContractLimits.maximumValueCount)

    /// How large a property list may be: what a value may have, and the dictionary around.
    static let list = PropertyList.Limits(
        byteCount: LayerFile.maximumSize, objectCount: PropertyList.Limits.standard.objectCount,
        depth: PropertyList.Limits.standard.depth + 1)
}
