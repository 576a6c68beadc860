internal import KeyedArchive
internal import PropertyList

/// The place of a value in the property list of an archive.
struct Place {
    /// The root of the property list objects that change together with a value.
    enum Owner {
        case top
        case object(UInt64)
    }

    /// A step from a collection of the property list to one of its elements or values.
    struct Hop {
        let container: ObjectIndex
        let child: Int
    }

    let owner: Owner
    /// The steps from the owner's collection down to the value.
    var hops: [Hop] = []

    func then(_ container: ObjectIndex, _ child: Int) -> Place {
        Place(owner: owner, hops: hops + [Hop(container: container, child: child)])
    }
}

/// A value, with references resolved.
struct Holder {
    let place: Place
    let index: ObjectIndex
    /// Whether it is an entry of `$objects`.
    ///
    /// There, a dictionary is an object.
    let isObject: Bool
}

/// The elements of a collection, or the keys of a dictionary, and their spelling.
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

/// The position of a value in the value around it, and its current content.
enum Seat {
    /// The only value of the archive.
    case root(Place, ObjectIndex)
    /// A field of an object or of `$top`, or an entry of an inline dictionary.
    case field(Holder, Fields, position: Int, isEntry: Bool)
    case pair(keys: ElementList, values: ElementList, position: Int)
    case element(ElementList, position: Int)
    /// All elements of a set, or all keys or values of a dictionary, under the name of that list.
    case list(ElementList, partner: ElementList?)
    /// A missing field that can be added.
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
