internal import KeyedArchive
internal import PropertyList

/// Where a value is in the property list of an archive.
struct Place {
    /// What the property list objects belong to that change with a value.
    enum Owner {
        case top
        case object(UInt64)
    }

    /// From a collection of the property list to one of its elements, or one of its values.
    struct Hop {
        let container: ObjectIndex
        let child: Int
    }

    let owner: Owner
    /// The hops from the owner's collection down to the value.
    var hops: [Hop] = []

    func then(_ container: ObjectIndex, _ child: Int) -> Place {
        Place(owner: owner, hops: hops + [Hop(container: container, child: child)])
    }
}

/// A value itself, which is not a reference.
struct Holder {
    let place: Place
    let index: ObjectIndex
    /// Whether it is an entry of `$objects`, in which a dictionary is an object.
    let isObject: Bool
}

/// The elements of a collection, or the keys of a dictionary, and how they are spelled.
struct ElementList {
    enum Storage {
        /// A collection of the property list.
        case itself
        /// A list in a field, `NS.objects` or `NS.keys`.
        case field(String)
        /// Fields with numbers, `NS.object.0` and so on.
        case numbered(prefix: String)
    }

    let holder: Holder
    let kind: ValueKind
    let storage: Storage
    let elements: Elements

    var count: Int { elements.count }
}

/// The position of a value in what holds it, and what is there.
enum Seat {
    /// The one value of the archive.
    case root(Place, ObjectIndex)
    /// A field of an object or of `$top`, or an entry of a dictionary of the property list.
    case field(Holder, Fields, position: Int, isEntry: Bool)
    case pair(keys: ElementList, values: ElementList, position: Int)
    case element(ElementList, position: Int)
    /// All elements of a set, or all keys or values of a dictionary, by the name of that list.
    case list(ElementList, partner: ElementList?)
    /// None yet: a field that can be added.
    case newField(Holder, name: Text, isEntry: Bool)
    case newPair(keys: ElementList, values: ElementList, name: Text)
    case newElement(ElementList)

    var isNew: Bool {
        switch self {
        case .root, .field, .pair, .element, .list: false
        case .newField, .newPair, .newElement: true
        }
    }
}
