internal import KeyedArchive
internal import PropertyList

extension KeyedArchive {
    /// The class of an object with these fields, and those that its archiver says may be taken
    /// instead.
    func classNames(of fields: Fields) -> [String] {
        var names = [list.text(of: className(of: fields)).description]
        guard let reference = fields["$class", in: list],
            case .uid(let uid) = list.value(at: reference),
            let record = Fields(of: list, at: object(uid)),
            let hints = record["$classhints", in: list],
            case .array(let references) = list.value(at: hints)
        else { return names }
        for position in 0..<references.count {
            let hint = list.text(at: list.element(position, of: references))
            if let hint { names.append(hint.description) }
        }
        return names
    }
}
