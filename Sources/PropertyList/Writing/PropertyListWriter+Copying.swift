/// What a writer takes from a property list that was read.
extension PropertyListWriter {
    /// Adds a scalar of another list: the same type and content, a 32-bit real as that.
    package mutating func add(copyOf index: ObjectIndex, in list: PropertyList) -> ObjectIndex {
        switch list.value(at: index) {
        case .boolean(let value): add(boolean: value)
        case .integer(let value): add(integer: value)
        case .real(let value): add(real: value)
        case .singleReal(let value): add(singleReal: value)
        case .date(let value): add(date: value)
        case .data(let range): add(data: list.data(of: range))
        case .string(let range): add(string: list.text(of: range))
        case .uid, .array, .orderedSet, .set, .dictionary:
            preconditionFailure("Only a scalar is copied by itself.")
        }
    }
}
