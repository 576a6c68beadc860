internal import DefaultsModel
internal import DefaultsTerms
internal import KeyedArchive
internal import PropertyList

/// Collects the values and locks of a file, entry by entry.
///
/// It knows the rules, but not the places of the entries in the file.
struct LayerContents {
    /// The name for the list of locks.
    ///
    /// It is not a key.
    static let locked: Text = "$locked"

    /// Names that editors and authors write, and that say nothing here.
    static let notes: Set<Text> = ["$schema", "$comment"]

    /// Whether the file may lock keys.
    let canLock: Bool
    private(set) var values: [(key: Key, archive: KeyedArchive)] = []
    private(set) var locks: [Lock] = []
    private var nameSize = 0
    private var totalSize = 0

    init(of file: LayerFile) {
        canLock = file.domain.layer == .managed
    }

    /// Makes a key from a name.
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

    /// Adds the value of a key that has no value yet.
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

    /// Adds a lock.
    mutating func add(lock text: Text) throws(LayerFault) {
        guard let pattern = text.string else { throw .lockIsNoText }
        guard let lock = Lock(pattern) else { throw .noLock(pattern) }
        guard locks.count < LayerLimits.lockCount else {
            throw .tooManyLocks(limit: LayerLimits.lockCount)
        }
        locks.append(lock)
    }

    /// Remarks about locks without an effect, with the positions of the locks.
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

/// The limits of a file.
///
/// They ensure that a file costs the daemon no more than a caller can. Values, and the names of all
/// keys, may be as large as the contract allows.
enum LayerLimits {
    /// The most bytes of all archives together: 64 MiB, the limit for pending changes.
    ///
    /// A small binary list can give the same large value to very many keys.
    static let totalSize = 64 << 20

    /// The most locks.
    static let lockCount = 1 << 16

    /// The limits of a value before it is archived: those of a value in one call of `SetValue`.
    static let value = ValueFormLimits(
        size: totalSize, depth: ValueFormLimits.standard.depth,
        count: ContractLimits.maximumValueCount)

    /// The limits of a property list: those of a value, and the dictionary around the values.
    static let list = PropertyList.Limits(
        byteCount: LayerFile.maximumSize, objectCount: PropertyList.Limits.standard.objectCount,
        depth: PropertyList.Limits.standard.depth + 1)
}
