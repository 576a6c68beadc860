internal import PropertyList

/// What parts a value has that a path leads to.
enum Parts {
    case none(ValueKind)
    case fields(Holder, Fields, ValueKind)
    case list(ElementList)
    case pairs(keys: ElementList, values: ElementList)
}

extension KeyedArchive {
    /// The parts of a value.
    func parts(of holder: Holder) -> Parts {
        func list(_ references: PropertyList.References, _ kind: ValueKind) -> Parts {
            .list(
                ElementList(
                    holder: holder, kind: kind, storage: .itself, elements: .references(references))
            )
        }
        switch self.list.value(at: holder.index) {
        case .boolean: return .none(.boolean)
        case .integer, .real, .singleReal: return .none(.number)
        case .string: return .none(.string)
        case .data: return .none(.data)
        case .date: return .none(.date)
        case .array(let references): return list(references, .array)
        case .set(let references): return list(references, .set)
        case .orderedSet(let references): return list(references, .orderedSet)
        case .dictionary(let keys, let values):
            let fields = Fields(keys: keys, values: values)
            return holder.isObject
                ? parts(of: holder, fields) : .fields(holder, fields, .dictionary)
        case .uid: preconditionFailure("A UID was taken for a value.")
        }
    }

    /// The parts of an object with these fields, or of a class record.
    private func parts(of holder: Holder, _ fields: Fields) -> Parts {
        guard fields["$class", in: list] != nil else { return .none(.classRecord) }
        func elements(_ elements: Elements, _ name: String, _ kind: ValueKind) -> ElementList {
            ElementList(holder: holder, kind: kind, named: name, elements)
        }
        switch form(of: fields) {
        case .string: return .none(.string)
        case .data: return .none(.data)
        case .object: return .fields(holder, fields, .object)
        case .array(let values): return .list(elements(values, "NS.object", .array))
        case .set(let values):
            let name = className(of: fields)
            let isOrdered = ["NSOrderedSet", "NSMutableOrderedSet"].contains {
                list.isEqual(name, to: $0)
            }
            return .list(elements(values, "NS.object", isOrdered ? .orderedSet : .set))
        case .dictionary(let keys, let values):
            return .pairs(
                keys: elements(keys, "NS.key", .dictionary),
                values: elements(values, "NS.object", .dictionary))
        }
    }

    /// The place of an element.
    func place(of position: Int, in elements: ElementList) -> Place {
        let holder = elements.holder
        func field(_ name: String) -> (position: Int, index: ObjectIndex) {
            guard let fields = Fields(of: list, at: holder.index),
                let position = fields.position(ofText: Text(name), in: list)
            else { preconditionFailure("The collection has no field that it had before.") }
            return (position, fields.value(at: position, in: list))
        }
        switch elements.storage {
        case .itself:
            return holder.place.then(holder.index, position)
        case .field(let name):
            let list = field(name)
            return holder.place.then(holder.index, list.position).then(list.index, position)
        case .numbered(let prefix):
            return holder.place.then(holder.index, field("\(prefix)\(position)").position)
        }
    }
}

extension ElementList {
    /// The elements of an object; they stand in a list where that is how the object has them, and
    /// will where it has none.
    fileprivate init(holder: Holder, kind: ValueKind, named name: String, _ elements: Elements) {
        self.holder = holder
        self.kind = kind
        self.elements = elements
        if case .listed = elements, elements.count > 0 {
            storage = .numbered(prefix: name + ".")
        } else {
            storage = .field(name + "s")
        }
    }
}

extension Fields {
    /// Where the field of this name is.
    func position(ofText name: Text, in list: PropertyList) -> Int? {
        let codeUnits = name.codeUnits
        return (0..<count).first { position in
            guard let key = list.string(at: key(at: position, in: list)) else { return false }
            return list.isEqual(key, to: codeUnits)
        }
    }
}
