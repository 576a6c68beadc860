extension Text: Hashable {
    /// Whether both are the same code units; canonical equivalence does not count.
    public static func == (left: Text, right: Text) -> Bool {
        switch (left.storage, right.storage) {
        case (.wellFormed(let left), .wellFormed(let right)):
            // Strings that are not even equivalent, which is quick to see, have other code units.
            left == right && left.utf8.elementsEqual(right.utf8)
        case (.illFormed(let left), .illFormed(let right)):
            left == right
        default:
            false
        }
    }

    /// Feeds the code units of the text to `hasher`.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .wellFormed(let string):
            // Not the string itself: equivalent strings hash alike, and there can be very many.
            // All bytes go in at once; the pointer does not leave the closure.
            let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
                hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
            }
            if isHashed == nil {
                for byte in string.utf8 { hasher.combine(byte) }
            }
            hasher.combine(UInt8.max)
        case .illFormed(let codeUnits):
            hasher.combine(codeUnits)
        }
    }
}

extension Text: Comparable {
    /// Whether `left` stands before `right` by code points, an unpaired surrogate being its own.
    public static func < (left: Text, right: Text) -> Bool {
        if case .wellFormed(let left) = left.storage, case .wellFormed(let right) = right.storage {
            // The bytes of UTF-8 are ordered as its code points are.
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return left.codePoints.lexicographicallyPrecedes(right.codePoints)
    }

    /// The code points of the text, unpaired surrogates among them.
    private var codePoints: [UInt32] {
        var points: [UInt32] = []
        for unit in codeUnits {
            if UTF16.isTrailSurrogate(unit), let last = points.last, last & ~0x3FF == 0xD800 {
                points[points.count - 1] = 0x10000 + (last & 0x3FF) << 10 + UInt32(unit) & 0x3FF
            } else {
                points.append(UInt32(unit))
            }
        }
        return points
    }
}
