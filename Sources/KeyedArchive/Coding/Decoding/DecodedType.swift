internal import PropertyList

/// A type that was met while decoding.
final class DecodedType {
    let facts: TypeFacts
    /// Whether values are decoded by the type alone, without anything that is known about it here.
    let isPlain: Bool
    /// A field that was asked for, and where it was.
    struct Answer {
        let name: FieldName
        let key: ObjectIndex
        let position: Int
    }

    /// The fields that were asked for last time, in the order of the questions: those of the next
    /// object are very likely the same.
    var answers: [Answer] = []
    /// The UID of the class record that was last found to fit.
    var fittingClass: UInt64?
    /// The UIDs of those that were found not to.
    var otherClasses: Set<UInt64> = []

    init(_ facts: TypeFacts) {
        self.facts = facts
        isPlain =
            !facts.isClass && facts.version == nil && facts.foundation == nil
            && facts.decodedCollection == nil
    }
}
