internal import KeyedArchive
internal import PropertyList

/// The parts of a value that a path can lead to.
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
        case .uid: preconditionFailure("A UID was used as a value.")
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
        case .set(let values, let isOrdered):
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
    /// The elements of an object.
    ///
    /// They are in a list, or in fields with numbers.
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
    /// The position of the field with this name.
    func position(ofText name: Text, in list: PropertyList) -> Int? {
        let codeUnits = name.codeUnits
        return (0..<count).first { position in
            guard let key = list.string(at: key(at: position, in: list)) else { return false }
            return list.isEqual(key, to: codeUnits)
        }
    }
}

/// The search for a dictionary's key with a given text.
///
/// Many keys may be the same string, or objects that share one. Each string is compared once.
struct KeySearch {
    private let archive: KeyedArchive
    private let name: Text
    private let codeUnits: [UInt16]
    /// Strings, and data in string objects, that differ from the name.
    private var others: Set<ObjectIndex> = []

    init(for name: Text, in archive: KeyedArchive) {
        self.name = name
        self.archive = archive
        codeUnits = name.codeUnits
    }

    /// The position of the first key with this text.
    mutating func first(in keys: Elements) -> Int? {
        for position in 0..<keys.count
        where isName(keys.element(position, in: archive.list)) { return position }
        return nil
    }

    private mutating func isName(_ key: ObjectIndex) -> Bool {
        let list = archive.list
        guard let content = archive.contentOfKey(key) else { return false }
        switch list.value(at: content) {
        case .string(let range):
            guard range.count == codeUnits.count, !others.contains(content) else { return false }
            if list.isEqual(range, to: codeUnits) { return true }
        case .data(let range):
            guard let string = name.string, range.count == string.utf8.count,
                !others.contains(content)
            else { return false }
            if list.data(of: range).elementsEqual(string.utf8) { return true }
        default:
            return false
        }
        others.insert(content)
        return false
    }
}

extension KeyedArchive {
    /// Whether a dictionary with these keys is shown as a dictionary: all keys are strings, all are
    /// different, and none begins with `$`.
    ///
    /// If the keys have more text than the archive has bytes, it is not.
    func hasPlainKeys(_ keys: Elements) -> Bool {
        var budget = bytes.count
        var texts: Set<Text> = []
        for position in 0..<keys.count {
            guard budget >= 0, let text = text(ofKey: keys.element(position, in: list)) else {
                return false
            }
            budget -= text.byteCount
            guard !text.hasPrefix("$"), texts.insert(text).inserted else { return false }
        }
        return true
    }
}

extension ElementList {
    var isSet: Bool { kind == .set || kind == .orderedSet }

    /// The same elements, as the array that their own name leads to.
    var asArray: ElementList {
        ElementList(holder: holder, kind: .array, storage: storage, elements: elements)
    }
}
