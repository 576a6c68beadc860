internal import KeyedArchive
internal import PropertyList

/// One change below the root of an archive.
///
/// 1. Everything that the change does not name stays unchanged: entries of the root and of `$top`,
///    objects and their order, fields and elements and their order, class records, and the types of
///    scalars.
/// 2. What the change makes unused is left out, and the UIDs close up. What was unused before
///    stays.
/// 3. An inline value of the property list stays inline if its new value can be inline.
struct ArchiveEdit {
    private let archive: KeyedArchive
    private let path: ValuePath
    private var draft: Draft
    /// The slots that were in use before.
    private let wasInUse: [Bool]

    init(_ archive: KeyedArchive, at path: ValuePath, value: KeyedArchive? = nil) {
        self.archive = archive
        self.path = path
        draft = Draft(of: archive, with: value)
        var walk = SlotWalk(over: draft)
        walk.enterRoots(of: draft)
        wasInUse = walk.isReached
    }

    /// The archive after the change.
    func finish() throws(ValuePathError) -> KeyedArchive {
        var walk = SlotWalk(over: draft)
        walk.enterRoots(of: draft)
        let old = 1..<draft.valueStart.slot
        for slot in old where !wasInUse[slot] { walk.enter(slot, in: draft) }
        let order =
            [0] + old.filter { walk.isReached[$0] }
            + walk.order.filter { $0 >= draft.valueStart.slot }
        do throws(ArchiveError) {
            return try DraftWriter(of: draft, order: order).editedArchive()
        } catch {
            throw .tooDeep(error)
        }
    }
}

extension SlotWalk {
    /// Adds the objects that the root of an archive refers to.
    fileprivate mutating func enterRoots(of draft: Draft) {
        enter(0, in: draft)
        walk(from: draft.top, in: draft)
        guard let root = Fields(of: draft.base.list, at: draft.base.list.root) else { return }
        for position in 0..<root.count {
            let name = root.name(at: position, in: draft.base.list)
            guard name != "$top", name != "$objects" else { continue }
            walk(from: root.value(at: position, in: draft.base.list).position, in: draft)
        }
    }
}

// MARK: Removing

extension ArchiveEdit {
    mutating func remove(_ seat: Seat) throws(ValuePathError) {
        switch seat {
        case .root, .list:
            throw .cannotRemove(path)
        case .field(let holder, let fields, let position, _):
            try removeField(position, of: holder, fields)
        case .pair(let keys, let values, let position):
            removeElement(position, of: keys)
            removeElement(position, of: values)
        case .element(let list, let position):
            removeElement(position, of: list)
        case .newField, .newPair, .newElement:
            throw seat.missing(path)
        }
    }

    private mutating func removeField(
        _ position: Int, of holder: Holder, _ fields: Fields
    ) throws(ValuePathError) {
        guard case .dictionary(var keys, var values) = draft.content(of: holder.index.position)
        else { preconditionFailure("A value with fields is not a dictionary.") }
        if holder.index == archive.top, fields.count == 1 { throw .lastOfTop(path) }
        keys.remove(at: position)
        values.remove(at: position)
        draft.put(draft.add(.dictionary(keys: keys, values: values)), at: holder.place)
    }

    private mutating func removeElement(_ position: Int, of list: ElementList) {
        var nodes = draft.nodes(of: list)
        nodes.remove(at: position)
        draft.replace(list, with: nodes)
    }
}

// MARK: Setting

extension ArchiveEdit {
    mutating func set(_ seat: Seat, to value: GraftedValue) throws(ValuePathError) {
        var shared = SharedObjects(of: draft, in: wasInUse)
        draft.share(value, with: &shared)
        switch seat {
        case .list(let list, let partner):
            try setList(list, partner, to: value)
        case .element(let list, _) where list.kind == .set:
            throw .setHasNoPlaces(path)
        case .newElement(let list) where list.kind == .set:
            throw .setHasNoPlaces(path)
        case .root, .field, .pair, .element:
            guard let (place, index) = archive.place(of: seat) else {
                preconditionFailure("An existing value has no place.")
            }
            draft.put(node(of: value, at: seat, replacing: index), at: place)
        case .newField(let holder, let name, let isEntry):
            try addField(name, to: holder, isEntry: isEntry, value)
        case .newPair(let keys, let values, let name):
            addPair(name, to: keys, values, value, &shared)
        case .newElement(let list):
            draft.replace(list, with: draft.nodes(of: list) + [node(of: value, in: list)])
        }
    }

    /// The node for a value that replaces another one.
    private mutating func node(
        of value: GraftedValue, at seat: Seat, replacing index: ObjectIndex
    ) -> Draft.Node {
        switch seat {
        case .field(let holder, let fields, let position, isEntry: false):
            let name = fields.name(at: position, in: archive.list)
            return node(of: value, inField: name, of: holder, replacing: index)
        case .field, .pair, .element:
            return draft.node(of: value, isInline: archive.isInlineScalar(index))
        case .root, .list, .newField, .newPair, .newElement:
            return draft.node(of: value, isInline: false)
        }
    }

    /// The node for the field of an object.
    ///
    /// It replaces `index`, or is new.
    private mutating func node(
        of value: GraftedValue, inField name: Text, of holder: Holder, replacing index: ObjectIndex?
    ) -> Draft.Node {
        // The lists of a collection's elements are always inline.
        if holder.isObject, name == "NS.objects" || name == "NS.keys",
            let elements = draft.elements(of: value)
        {
            return draft.add(.list(.array, elements))
        }
        return draft.node(of: value, isInline: archive.isInline(value.kind, replacing: index))
    }

    /// The node for a new element of a list: inline or a reference, like the last element.
    private mutating func node(of value: GraftedValue, in list: ElementList) -> Draft.Node {
        draft.node(of: value, isInline: archive.endsInline(list))
    }

    private mutating func addField(
        _ name: Text, to holder: Holder, isEntry: Bool, _ value: GraftedValue
    ) throws(ValuePathError) {
        guard isEntry || !name.hasPrefix("$") || name.isFieldName else { throw .cannotAdd(path) }
        guard case .dictionary(let keys, let values) = draft.content(of: holder.index.position)
        else { preconditionFailure("A value with fields is not a dictionary.") }
        let node: Draft.Node
        if isEntry {
            let endsInline = values.last.map { draft.isScalar($0) } ?? false
            node = draft.node(of: value, isInline: endsInline)
        } else {
            node = self.node(of: value, inField: name, of: holder, replacing: nil)
        }
        let fields = Draft.Content.dictionary(
            keys: keys + [draft.add(.text(name))], values: values + [node])
        draft.put(draft.add(fields), at: holder.place)
    }

    private mutating func addPair(
        _ name: Text, to keys: ElementList, _ values: ElementList, _ value: GraftedValue,
        _ shared: inout SharedObjects
    ) {
        var key = draft.add(.text(name))
        if !archive.endsInline(keys) {
            key = draft.add(.reference(shared.slot(of: key, in: &draft)))
        }
        let node = node(of: value, in: values)
        draft.replace(keys, with: draft.nodes(of: keys) + [key])
        draft.replace(values, with: draft.nodes(of: values) + [node])
    }

    /// Sets all elements of a set, or all keys or values of a dictionary.
    private mutating func setList(
        _ list: ElementList, _ partner: ElementList?, to value: GraftedValue
    ) throws(ValuePathError) {
        guard let elements = draft.elements(of: value),
            partner.map({ $0.count == elements.count }) ?? true
        else { throw .needsArray(path, count: partner?.count) }
        draft.replace(list, with: elements)
    }
}

// MARK: Inline or not

extension KeyedArchive {
    fileprivate func isInlineScalar(_ index: ObjectIndex) -> Bool {
        ValueKind(scalar: list.value(at: index)) != nil
    }

    fileprivate func endsInline(_ list: ElementList) -> Bool {
        guard list.count > 0 else { return false }
        return isInlineScalar(list.elements.element(list.count - 1, in: self.list))
    }

    /// Whether a scalar is inline in a field.
    ///
    /// Numbers and booleans are inline, unless a number object was there before. Other scalars are
    /// inline only if one of the same kind was inline before.
    fileprivate func isInline(_ kind: ValueKind?, replacing index: ObjectIndex?) -> Bool {
        let old = index.map { list.value(at: $0) }
        switch kind {
        case .number, .boolean:
            guard case .uid(let uid) = old, !isNil(uid) else { return true }
            let object = ValueKind(scalar: list.value(at: object(uid)))
            return object != .number && object != .boolean
        case .string, .data, .date:
            return old.flatMap(ValueKind.init(scalar:)) == kind
        default:
            return false
        }
    }
}

extension ValueKind {
    /// The kind of a scalar; nil for references and collections.
    init?(scalar value: PropertyList.Value) {
        switch value {
        case .boolean: self = .boolean
        case .integer, .real, .singleReal: self = .number
        case .string: self = .string
        case .data: self = .data
        case .date: self = .date
        case .uid, .array, .orderedSet, .set, .dictionary: return nil
        }
    }
}
