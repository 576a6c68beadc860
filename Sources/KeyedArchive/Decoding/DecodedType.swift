internal import PropertyList

/// A type that was used while decoding.
final class DecodedType {
    let facts: TypeFacts
    /// Whether decoding its values needs no information from here.
    let isPlain: Bool
    /// A field that was looked up, and its position.
    struct Answer {
        let name: FieldName
        let key: ObjectIndex
        let position: Int
    }

    /// The fields that were looked up in the last object, in this order.
    ///
    /// The next object very likely has the same.
    var answers: [Answer] = []
    /// The UID of the last class record that fits the type.
    var fittingClass: UInt64?
    /// The UIDs of class records that do not fit.
    var otherClasses: Set<UInt64> = []

    init(_ facts: TypeFacts) {
        self.facts = facts
        isPlain =
            !facts.isClass && facts.version == nil && facts.foundation == nil
            && facts.decodedCollection == nil
    }
}

/// A class of the archive that is being decoded.
final class ArchivedClass {
    /// The most superclasses that are searched.
    ///
    /// No real class has more.
    private static let chainLimit = 64

    private let list: PropertyList
    /// The UID of the class record.
    let uid: UInt64
    /// The string with its name.
    let name: ObjectIndex
    /// The names of the class and its superclasses in its record.
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

    /// The names of its superclasses, usually beginning with its own name.
    var superclasses: [ObjectIndex] {
        chain.map { list.elements(of: $0, upTo: Self.chainLimit) } ?? []
    }
}
