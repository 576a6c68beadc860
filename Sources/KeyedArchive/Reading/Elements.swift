package import PropertyList

/// The elements of a collection: those of a property list array, or fields named one by one.
package enum Elements {
    case references(PropertyList.References)
    case listed([ObjectIndex])

    package var count: Int {
        switch self {
        case .references(let references): references.count
        case .listed(let elements): elements.count
        }
    }

    package func element(_ position: Int, in list: PropertyList) -> ObjectIndex {
        switch self {
        case .references(let references): list.element(position, of: references)
        case .listed(let elements): elements[position]
        }
    }
}
