/// The check that the keys of dictionaries are strings, all different.
///
/// Many dictionaries may share long keys, so no key is read for each of them: every key is hashed
/// once, and only keys of the same hash are compared. The hash is seeded anew in each process, so
/// nobody can make keys that collide.
struct KeyCheck {
    /// Up to how many keys are compared each with each, which needs no sorting.
    private static let pairwiseLimit = 16

    private struct Key {
        let hash: Int
        let index: ObjectIndex
    }

    private let list: PropertyList
    /// The hash of each object that was a key so far, else 0.
    private var hashes: [Int]
    /// The keys of the dictionary at hand; kept to be filled again.
    private var keys: [Key] = []

    init(of list: PropertyList) {
        self.list = list
        hashes = Array(repeating: 0, count: list.objectCount)
    }

    /// Checks the keys of the dictionary at `dictionary`.
    mutating func check(
        _ references: PropertyList.References, of dictionary: ObjectIndex
    ) throws(PropertyListError) {
        keys.removeAll(keepingCapacity: true)
        for position in 0..<references.count {
            let index = list.element(position, of: references)
            keys.append(Key(hash: try hash(of: index, in: dictionary), index: index))
        }
        guard !hasDuplicate() else {
            throw .duplicateKey(at: list.byteOffset(of: dictionary))
        }
    }

    private mutating func hash(
        of index: ObjectIndex, in dictionary: ObjectIndex
    ) throws(PropertyListError) -> Int {
        let known = hashes[index.position]
        guard known == 0 else { return known }
        guard case .string(let range) = list.value(at: index) else {
            throw .keyIsNoString(at: list.byteOffset(of: dictionary))
        }
        let hash = list.contentHash(of: range)
        hashes[index.position] = hash
        return hash
    }

    private mutating func hasDuplicate() -> Bool {
        guard keys.count > Self.pairwiseLimit else {
            for (position, key) in keys.enumerated() {
                for earlier in keys[..<position] where areEqual(key, earlier) { return true }
            }
            return false
        }
        keys.sort { $0.hash < $1.hash }
        return zip(keys, keys.dropFirst()).contains { areEqual($0, $1) }
    }

    private func areEqual(_ left: Key, _ right: Key) -> Bool {
        guard left.hash == right.hash else { return false }
        return left.index == right.index || list.text(at: left.index) == list.text(at: right.index)
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
