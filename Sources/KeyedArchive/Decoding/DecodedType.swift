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

/// A class of the archive that is decoded.
final class ArchivedClass {
    /// More superclasses than any class has are not searched for each object's sake.
    private static let chainLimit = 64

    private let list: PropertyList
    /// The UID of the class record.
    let uid: UInt64
    /// The string that is its name.
    let name: ObjectIndex
    /// What its record has as the names of the class and its superclasses.
    private let chain: PropertyList.References?
    /// The first known class of the chain.
    private(set) lazy var known: FoundationClass? = ([name] + superclasses).lazy.compactMap {
        [list] name in
        list.string(at: name).flatMap { FoundationClass(named: $0, in: list) }
    }.first

    init?(uid: UInt64, record: Fields, in list: PropertyList) {
        guard let name = record["$classname", in: list] else { return nil }
        self.list = list
        self.uid = uid
        self.name = name
        if let classes = record["$classes", in: list],
            case .array(let references) = list.value(at: classes)
        {
            chain = references
        } else {
            chain = nil
        }
    }

    /// The names of its superclasses, and mostly of itself.
    var superclasses: [ObjectIndex] {
        chain.map { list.elements(of: $0, upTo: Self.chainLimit) } ?? []
    }
}
