internal import PropertyList

/// A collection or an object of a tree whose children are being shown.
struct TreeFrame {
    enum Children {
        case elements(Elements)
        /// The entries of a property list `$objects`, which are labelled by their UIDs.
        case objects(PropertyList.References)
        /// The entries of a dictionary object.
        case entries(keys: Elements, values: Elements)
        /// The entries of a dictionary of the property list.
        case inline(Fields)
        /// The fields of an object, but for the one at a position, which is its class.
        case fields(Fields, classPosition: Int)
        /// A key that takes lines of its own, and its value.
        case pair(key: ObjectIndex, value: ObjectIndex)
    }

    let view: ArchiveView
    let children: Children
    /// What the lines of the children begin with.
    let indentation: String
    var next = 0

    var count: Int {
        switch children {
        case .elements(let elements): elements.count
        case .objects(let references): references.count
        case .entries(let keys, _): keys.count
        case .inline(let fields): fields.count
        case .fields(let fields, _): fields.count - 1
        case .pair: 2
        }
    }
}
