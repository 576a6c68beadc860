/// A type that was met while decoding.
final class DecodedType {
    let facts: TypeFacts
    /// Whether values are decoded by the type alone, without anything that is known about it here.
    let isPlain: Bool
    /// The positions of the fields that were asked for last time, in the order of the questions:
    /// those of the next object are very likely the same.
    var positions: [Int] = []
    /// The UID of the class record that was last found to fit.
    var fittingClass: UInt64?

    init(_ facts: TypeFacts) {
        self.facts = facts
        isPlain =
            !facts.isClass && facts.version == nil && facts.foundation == nil
            && facts.decodedCollection == nil
    }
}
