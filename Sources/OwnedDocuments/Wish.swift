package import KeyedArchive
package import ValuePaths

/// What a document wants of one key.
package struct Wish: Sendable {
    package let place: KeyPlace
    package let demand: Demand

    package init(_ place: KeyPlace, _ demand: Demand) {
        self.place = place
        self.demand = demand
    }
}

/// What the value of a key has to be.
package enum Demand: Sendable {
    /// This value.
    case value(KeyedArchive)
    /// None.
    case absence
    /// This value at first, and then whatever the user makes of it.
    case once(KeyedArchive)
    /// Whatever it is, with these parts.
    case parts([PartDemand])
}

/// What a part of a value has to be.
package struct PartDemand: Sendable {
    /// Where it is.
    package let path: ValuePath
    package let content: Content

    package enum Content: Sendable {
        /// This value: an entry of a dictionary or a field of an object.
        case value(KeyedArchive)
        /// A list that has some elements, and has others not.
        case elements(ensured: [KeyedArchive], unwanted: [KeyedArchive])
        /// An object of this class, if there is none yet.
        case object(className: String)
    }

    package init(path: ValuePath, _ content: Content) {
        self.path = path
        self.content = content
    }
}

/// Keys that are to have no value, by a pattern.
package struct Removal: Sendable {
    /// The domain, with the suffix of a layer.
    package let domain: String
    /// The beginning of the keys; the document's own keys are spared.
    package let prefix: String
}
