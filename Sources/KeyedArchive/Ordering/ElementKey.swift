/// The sort key for elements of sets and keys of dictionaries.
///
/// Scalars come first, by type and value. Strings are sorted by code point. Objects follow.
package enum ElementKey {
    case scalar(Scalar)
    /// An object, with its number from ``ReferenceGraph/numbers()``.
    case object(Int)

    /// The positions of these keys in sorted order.
    ///
    /// Equal keys keep their order.
    package static func positions(of keys: [ElementKey]) -> [Int] {
        keys.indices.sorted { left, right in
            precedes(keys[left], keys[right]) ?? (left < right)
        }
    }

    /// Whether the left key comes before the right one; nil if they are equal.
    private static func precedes(_ left: ElementKey, _ right: ElementKey) -> Bool? {
        switch (left, right) {
        case (.scalar(let left), .scalar(let right)): Scalar.precedes(left, right)
        case (.scalar, .object): true
        case (.object, .scalar): false
        case (.object(let left), .object(let right)): left == right ? nil : left < right
        }
    }
}

extension Scalar {
    fileprivate static func precedes(_ left: Scalar, _ right: Scalar) -> Bool? {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)):
            left == right ? nil : right
        case (.integer(let left), .integer(let right)):
            left == right ? nil : left < right
        case (.real(let left), .real(let right)), (.date(let left), .date(let right)):
            left.bitPattern == right.bitPattern
                ? nil : left.isTotallyOrdered(belowOrEqualTo: right)
        case (.string(let left), .string(let right)):
            left == right ? nil : left < right
        case (.data(let left), .data(let right)):
            left == right ? nil : left.lexicographicallyPrecedes(right)
        default:
            left.rank == right.rank ? nil : left.rank < right.rank
        }
    }

    /// The position of its type among the types.
    var rank: Int {
        switch self {
        case .null: 0
        case .boolean: 1
        case .integer: 2
        case .real: 3
        case .string: 4
        case .date: 5
        case .data: 6
        }
    }
}
