/// A step of a coding path: the name of a field, or the position of an element.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    /// The key `super`, under which an object's superclass stands apart from it.
    static let superclass = PathKey(stringValue: "super")
}
