internal import KeyedArchive
internal import PropertyList

/// Numbers for the names of fields: equal names have equal numbers.
///
/// Each name is read once, however many objects have it.
struct FieldNames {
    private var numbers: [Text: Int] = [:]
    private var known: [ObjectIndex: Int] = [:]

    /// The number of a name that objects of the archive may have; nil where none was read that does.
    func number(of name: String) -> Int? {
        numbers[Text(name)]
    }

    /// The number of the name of a field.
    mutating func number(at position: Int, of fields: Fields, in list: PropertyList) -> Int {
        let key = fields.key(at: position, in: list)
        if let number = known[key] { return number }
        let name = fields.name(at: position, in: list)
        let number = numbers[name] ?? numbers.count
        numbers[name] = number
        known[key] = number
        return number
    }
}
