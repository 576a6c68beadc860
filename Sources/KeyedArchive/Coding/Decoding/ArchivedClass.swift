internal import PropertyList

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
    private(set) lazy var known: KnownClass? = ([name] + superclasses).lazy.compactMap {
        [list] name in
        list.string(at: name).flatMap { KnownClass(named: $0, in: list) }
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
