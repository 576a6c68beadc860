internal import Foundation

/// The ranges of an index set: in ascending order, none empty, all below `NSNotFound`.
///
/// Foundation traps, or never ends, for a set of other ranges.
enum IndexRanges {
    /// The ranges whose first indexes and lengths are given in turns; nil if they are none of an
    /// index set.
    static func ranges(_ integers: [Int]) -> [Range<Int>]? {
        guard integers.count.isMultiple(of: 2) else { return nil }
        var ranges: [Range<Int>] = []
        ranges.reserveCapacity(integers.count / 2)
        for position in stride(from: 0, to: integers.count, by: 2) {
            let (start, length) = (integers[position], integers[position + 1])
            let (end, overflow) = start.addingReportingOverflow(length)
            // NSNotFound is the largest Int, so an end that is one is not an index.
            guard length > 0, !overflow, start >= ranges.last?.upperBound ?? 0 else { return nil }
            ranges.append(start..<end)
        }
        return ranges
    }
}

extension NSIndexSet {
    /// The first index and the length of each range, in turns.
    var packedRanges: [Int] {
        var integers: [Int] = []
        enumerateRanges(options: []) { range, _ in integers += [range.location, range.length] }
        return integers
    }
}
