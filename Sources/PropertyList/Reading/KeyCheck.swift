/// The check that the keys of dictionaries are strings, all different.
///
/// Keys differ nearly always in their length or their last character, which is seen at once. Of
/// those that do not, each is hashed once, however many dictionaries share it, and only keys of the
/// same hash are read against each other. The hash has a new seed in each process, so nobody can
/// make keys that collide.
struct KeyCheck {
    /// Up to this number, all keys are compared with each other, which needs no sorting.
    private static let pairwiseLimit = 16

    private struct Key {
        let index: ObjectIndex
        let range: PropertyList.StringRange
        let lastCodeUnit: UInt16
    }

    /// The hash of each object whose hash was asked for, else 0; empty before the first one.
    private var hashes: [Int] = []
    /// The keys of two dictionaries that were found right: those of one class share them.
    private var recent: (PropertyList.References?, PropertyList.References?)
    /// The keys of the dictionary at hand; kept to be filled again.
    private var keys: [Key] = []

    init() {
        keys.reserveCapacity(Self.pairwiseLimit)
    }

    /// Checks the keys of the dictionary at `dictionary`.
    mutating func check(
        _ references: PropertyList.References, of dictionary: ObjectIndex, in list: PropertyList
    ) throws(PropertyListError) {
        if let keys = recent.0, list.areSame(keys, references) { return }
        if let keys = recent.1, list.areSame(keys, references) {
            recent = (recent.1, recent.0)
            return
        }
        keys.removeAll(keepingCapacity: true)
        for position in 0..<references.count {
            let index = list.element(position, of: references)
            guard let range = list.string(at: index) else {
                throw .keyIsNoString(at: list.byteOffset(of: dictionary))
            }
            let last = range.count > 0 ? list.codeUnit(range.count - 1, of: range) : 0
            keys.append(Key(index: index, range: range, lastCodeUnit: last))
        }
        let hasDuplicate =
            keys.count > Self.pairwiseLimit
            ? hasDuplicateSorted(in: list) : hasDuplicatePairwise(in: list)
        guard !hasDuplicate else { throw .duplicateKey(at: list.byteOffset(of: dictionary)) }
        recent = (references, recent.0)
    }

    private mutating func hasDuplicatePairwise(in list: PropertyList) -> Bool {
        for position in keys.indices {
            for earlier in 0..<position where areEqual(keys[position], keys[earlier], in: list) {
                return true
            }
        }
        return false
    }

    private mutating func hasDuplicateSorted(in list: PropertyList) -> Bool {
        let sorted = keys.map { (key: $0, hash: hash(of: $0, in: list)) }
            .sorted { $0.hash < $1.hash }
        return zip(sorted, sorted.dropFirst()).contains { areEqual($0.key, $1.key, in: list) }
    }

    private mutating func areEqual(
        _ left: Key, _ right: Key, in list: PropertyList
    ) -> Bool {
        guard left.range.count == right.range.count, left.lastCodeUnit == right.lastCodeUnit else {
            return false
        }
        return left.index == right.index
            || hash(of: left, in: list) == hash(of: right, in: list)
                && list.isEqual(left.range, to: right.range, in: list)
    }

    private mutating func hash(of key: Key, in list: PropertyList) -> Int {
        if hashes.isEmpty { hashes = Array(repeating: 0, count: list.objectCount) }
        let known = hashes[key.index.position]
        guard known == 0 else { return known }
        let hash = list.contentHash(of: key.range)
        hashes[key.index.position] = hash
        return hash
    }
}

extension PropertyList {
    /// A hash of a string's characters: that of an ASCII string is the same in either encoding.
    fileprivate func contentHash(of range: StringRange) -> Int {
        var hasher = Hasher()
        if range.isUTF16 {
            for position in 0..<range.count {
                let unit = codeUnit(position, of: range)
                if let byte = UInt8(exactly: unit), byte < 0x80 {
                    hasher.combine(byte)
                } else {
                    hasher.combine(unit)
                }
            }
        } else {
            // All bytes go in at once; the pointer stays in the closure and within the string.
            bytes.withUnsafeBytes { bytes in
                let content = bytes[range.start..<range.start + range.count]
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: content))
            }
        }
        return hasher.finalize()
    }
}
