internal import KeyedArchive
internal import PropertyList

extension KeyedArchive {
    /// No class of a program has a longer name; many objects may give one that is.
    private static let nameLimit = 1000

    /// How many hints are looked at.
    private static let hintLimit = 16

    /// The name of the class of an object with these fields, shortened where it is no name.
    func shortClassName(of fields: Fields) -> String {
        let range = className(of: fields)
        return range.count <= Self.nameLimit ? list.text(of: range).description : "…"
    }

    /// The names of classes that an archiver says may be taken where that of an object is unknown.
    func classHints(of fields: Fields) -> some Sequence<String> {
        let hints = hintReferences(of: fields)
        return hints.lazy.compactMap { index -> String? in
            guard let range = list.string(at: index), range.count <= Self.nameLimit else {
                return nil
            }
            return list.text(of: range).string
        }
    }

    private func hintReferences(of fields: Fields) -> [ObjectIndex] {
        guard let reference = fields["$class", in: list],
            case .uid(let uid) = list.value(at: reference),
            let record = Fields(of: list, at: object(uid)),
            let hints = record["$classhints", in: list],
            case .array(let references) = list.value(at: hints)
        else { return [] }
        // Only the first few: many objects may have the record.
        return (0..<min(references.count, Self.hintLimit)).map { list.element($0, of: references) }
    }
}
