/// Where a value stands among those that are being decoded: below which one, and as what.
struct DecodingLocation {
    enum Key {
        /// It is the parent's value itself.
        case none
        case name(String)
        case index(Int)
    }

    let parent: ValueDecoder?
    let key: Key

    /// The way from the root.
    var path: [any CodingKey] {
        var path: [any CodingKey] = []
        var location = self
        while true {
            switch location.key {
            case .none: break
            case .name(let name): path.append(PathKey(stringValue: name))
            case .index(let index): path.append(PathKey(intValue: index))
            }
            guard let parent = location.parent else { return path.reversed() }
            location = parent.location
        }
    }
}
