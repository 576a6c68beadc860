internal import KeyedArchive
internal import PropertyList

/// The walk along a path, from the archive's `$top` to a seat.
///
/// Every step looks at the parts of one value once, so the time is linear in the archive. Only a
/// path that goes around in a cycle visits an object again.
struct PathWalk {
    private let archive: KeyedArchive
    private let path: ValuePath
    private let list: PropertyList

    init(in archive: KeyedArchive, along path: ValuePath) {
        self.archive = archive
        self.path = path
        list = archive.list
    }

    /// The seat that the path leads to.
    ///
    /// The last step may lead to a missing part that can be added.
    ///
    /// - Throws: ``ValuePathError`` if a step leads nowhere.
    func run() throws(ValuePathError) -> Seat {
        var seat = archive.rootSeat
        for position in path.steps.indices {
            let parts =
                if let seat { try parts(of: seat, after: position) } else { archive.topParts }
            seat = try find(position, in: parts)
        }
        guard let seat else { throw .severalValues }
        return seat
    }

    /// The parts of the value at a seat, to which the first `count` steps lead.
    private func parts(of seat: Seat, after count: Int) throws(ValuePathError) -> Parts {
        if case .list(let elements, _) = seat { return .list(elements) }
        guard let (place, index) = archive.place(of: seat) else {
            preconditionFailure("The walk continued from a missing part.")
        }
        guard let holder = archive.holder(of: index, at: place) else {
            throw .noParts(path, after: count, .null)
        }
        return archive.parts(of: holder)
    }
}

// MARK: Steps

extension PathWalk {
    /// The seat that the step at `position` leads to.
    private func find(_ position: Int, in parts: Parts) throws(ValuePathError) -> Seat {
        switch (parts, path.steps[position]) {
        case (.none(let kind), _):
            throw .noParts(path, after: position, kind)
        case (.fields(let holder, let fields, let kind), .name(let name)):
            return try field(name, of: holder, fields, kind, position)
        case (.fields(_, _, let kind), .index):
            throw .needsName(path, after: position, kind)
        case (.pairs(let keys, let values), .name(let name)):
            return try pair(name, keys, values, position)
        case (.pairs, .index):
            throw .needsName(path, after: position, .dictionary)
        case (.list(let elements), .index(let index)):
            return try element(index, of: elements, position)
        case (.list(let elements), .name(let name)):
            // The list of a set or a dictionary has no list of its own.
            if elements.isSet, name == "NS.objects" { return .list(elements.asArray, partner: nil) }
            throw .needsIndex(path, after: position, elements.kind)
        }
    }

    private func isLast(_ position: Int) -> Bool { position == path.steps.count - 1 }

    private func field(
        _ name: Text, of holder: Holder, _ fields: Fields, _ kind: ValueKind, _ position: Int
    ) throws(ValuePathError) -> Seat {
        let isEntry = kind == .dictionary
        if kind == .object, name == "$class" { throw .classIsNoPart(path, after: position) }
        if let found = fields.position(ofText: name, in: list) {
            return .field(holder, fields, position: found, isEntry: isEntry)
        }
        guard isLast(position) else { throw .noName(path, after: position, kind) }
        return .newField(holder, name: name, isEntry: isEntry)
    }

    private func pair(
        _ name: Text, _ keys: ElementList, _ values: ElementList, _ position: Int
    ) throws(ValuePathError) -> Seat {
        var search = KeySearch(for: name, in: archive)
        if let found = search.first(in: keys.elements) {
            return .pair(keys: keys, values: values, position: found)
        }
        if name == "NS.keys" || name == "NS.objects", !archive.hasPlainKeys(keys.elements) {
            return name == "NS.keys"
                ? .list(keys.asArray, partner: values) : .list(values.asArray, partner: keys)
        }
        guard isLast(position) else { throw .noName(path, after: position, .dictionary) }
        return .newPair(keys: keys, values: values, name: name)
    }

    private func element(
        _ index: Int, of elements: ElementList, _ position: Int
    ) throws(ValuePathError) -> Seat {
        let count = elements.count
        if (0..<count).contains(index) { return .element(elements, position: index) }
        if index < 0, index >= -count { return .element(elements, position: count + index) }
        guard index == count, isLast(position) else {
            throw .noIndex(path, after: position, elements.kind, has: count)
        }
        return .newElement(elements)
    }
}

// MARK: Places

extension KeyedArchive {
    /// The object of `$top`.
    var top: ObjectIndex {
        guard let root = Fields(of: list, at: list.root), let top = root["$top", in: list] else {
            preconditionFailure("An archive has no $top.")
        }
        return top
    }

    /// The seat of the archive's only value, if `$top` has only `root`.
    var rootSeat: Seat? {
        let fields = Fields(keys: topKeys, values: topValues)
        guard fields.count == 1, let root = fields["root", in: list],
            case .uid = list.value(at: root)
        else { return nil }
        return .root(Place(owner: .top).then(top, 0), root)
    }

    /// The values of the archive by their names in `$top`.
    fileprivate var topParts: Parts {
        let holder = Holder(place: Place(owner: .top), index: top, isObject: false)
        return .fields(holder, Fields(keys: topKeys, values: topValues), .top)
    }

    /// The place of a seat, and its current value; nil if the seat has no place.
    func place(of seat: Seat) -> (Place, ObjectIndex)? {
        switch seat {
        case .root(let place, let index):
            return (place, index)
        case .field(let holder, let fields, let position, _):
            let index = fields.value(at: position, in: list)
            return (holder.place.then(holder.index, position), index)
        case .pair(_, let elements, let position), .element(let elements, let position):
            let index = elements.elements.element(position, in: list)
            return (place(of: position, in: elements), index)
        case .list, .newField, .newPair, .newElement:
            return nil
        }
    }

    /// The value at a place, or the target if it is a reference; nil if it is nil.
    func holder(of index: ObjectIndex, at place: Place) -> Holder? {
        guard case .uid(let uid) = list.value(at: index) else {
            return Holder(place: place, index: index, isObject: false)
        }
        guard !isNil(uid) else { return nil }
        return Holder(place: Place(owner: .object(uid)), index: object(uid), isObject: true)
    }
}
