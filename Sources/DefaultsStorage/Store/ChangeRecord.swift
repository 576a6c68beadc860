import DefaultsModel

/// After which generations all changes are known.
///
/// When a start finds the store without its journal, the numbers jump: those that are skipped may have been
/// given to changes that are lost. So it is not known what came after one of them. What came after an earlier
/// number is known, because the store has all of it.
struct ChangeRecord: Equatable {
    /// The generation from which the numbers have not jumped.
    let start: Generation
    /// The generations before that of which this is so, the oldest first: from each jump to the last change
    /// that was in the store at the next one.
    let earlier: [ClosedRange<Generation>]

    /// The most ranges that are remembered.
    private static let mostRanges = 16

    init(start: Generation, earlier: [ClosedRange<Generation>] = []) {
        self.start = start
        self.earlier = earlier
    }

    /// Whether all changes after a generation are known, besides forgotten removals.
    func reaches(backTo generation: Generation, now current: Generation) -> Bool {
        start <= generation && generation <= current || earlier.contains { $0.contains(generation) }
    }

    /// The record after a jump.
    ///
    /// - Parameters:
    ///   - last: The last change that is in the store, with all before it.
    ///   - landing: The generation from which the numbers continue.
    func jumping(from last: Generation, to landing: Generation) -> ChangeRecord {
        let ended = start <= last ? earlier + [start...last] : earlier
        return ChangeRecord(start: landing, earlier: ended.suffix(Self.mostRanges))
    }
}

/// The ranges as the store has them: `1-17 1763-1801`.
extension ChangeRecord {
    /// The text of ``earlier``.
    var text: String {
        earlier.map { "\($0.lowerBound.rawValue)-\($0.upperBound.rawValue)" }.joined(separator: " ")
    }

    /// Reads a text; what is not a range in it is left out, so that less is known.
    init(start: Generation, text: String) {
        let ranges = text.split(separator: " ").suffix(Self.mostRanges).compactMap { range in
            let bounds = range.split(separator: "-").compactMap {
                UInt64($0).flatMap(Generation.init(fromFile:))
            }
            return bounds.count == 2 && bounds[0] <= bounds[1] ? bounds[0]...bounds[1] : nil
        }
        self.init(start: start, earlier: ranges)
    }
}
