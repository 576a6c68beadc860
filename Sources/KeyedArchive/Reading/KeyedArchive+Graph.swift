package import PropertyList

/// The steps from one object of the graph to the next.
extension KeyedArchive {
    /// The object that a UID refers to.
    package func object(_ uid: UInt64) -> ObjectIndex {
        list.element(Int(uid), of: objects)
    }

    /// Whether a UID stands for no object: it is 0, or refers to the string `$null`.
    package func isNil(_ uid: UInt64) -> Bool {
        guard uid != 0 else { return true }
        guard case .string(let range) = list.value(at: object(uid)) else { return false }
        return list.isEqual(range, to: "$null")
    }

    /// The name of the class of an object, or of a class record itself.
    package func className(of fields: Fields) -> PropertyList.StringRange {
        if let reference = fields["$class", in: list] {
            guard case .uid(let uid) = list.value(at: reference),
                let record = Fields(of: list, at: object(uid))
            else { preconditionFailure("The $class of an object is no class record.") }
            return className(ofRecord: record)
        }
        return className(ofRecord: fields)
    }

    private func className(ofRecord fields: Fields) -> PropertyList.StringRange {
        guard let name = fields["$classname", in: list],
            case .string(let range) = list.value(at: name)
        else {
            preconditionFailure("A class record has no name.")
        }
        return range
    }
}
