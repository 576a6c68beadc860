internal import KeyedArchive
internal import PropertyList

/// The value that an edit sets.
///
/// It is the root of a separate archive.
struct GraftedValue {
    let archive: KeyedArchive
    /// The reference to the root.
    let reference: ObjectIndex
    /// The kind of the root, if it is a plain scalar.
    let kind: ValueKind?

    /// - Throws: ``ValuePathError`` if the archive does not have exactly one value.
    init(_ archive: KeyedArchive) throws(ValuePathError) {
        guard case .root(_, let reference) = archive.rootSeat else { throw .valueHasTop }
        // In this case, nil would be a class in one archive and nil in the other.
        if archive.objects.count > 0, Fields(of: archive.list, at: archive.object(0)) != nil {
            throw .valueHasNoNil
        }
        self.archive = archive
        self.reference = reference
        if case .uid(let uid) = archive.list.value(at: reference), !archive.isNil(uid) {
            kind = ValueKind(scalar: archive.list.value(at: archive.object(uid)))
        } else {
            kind = nil
        }
    }

    fileprivate var root: Holder? {
        archive.holder(of: reference, at: Place(owner: .top))
    }
}

extension Draft {
    /// Replaces scalars and class records of the value by equal objects of the archive.
    ///
    /// Each object replaces at most one, so objects that are separate in the value stay separate.
    mutating func share(_ value: GraftedValue, with shared: inout SharedObjects) {
        var walk = SlotWalk(over: self)
        walk.walk(from: valueStart.node + value.reference.position, in: self)
        var used: Set<Slot> = []
        for slot in walk.order {
            if let equal = shared.slot(equalTo: slots[slot], in: self), used.insert(equal).inserted
            {
                alias(equal, for: slot)
            }
        }
    }

    /// The value's root: the scalar itself if that is possible, otherwise a reference.
    func node(of value: GraftedValue, isInline: Bool) -> Node {
        guard isInline, value.kind != nil, let root = value.root else {
            return valueStart.node + value.reference.position
        }
        return valueStart.node + root.index.position
    }

    /// The elements of the value if it is an array.
    func elements(of value: GraftedValue) -> [Node]? {
        guard let root = value.root, case .list(let list) = value.archive.parts(of: root),
            list.kind == .array
        else { return nil }
        return (0..<list.count).map { position in
            valueStart.node + list.elements.element(position, in: value.archive.list).position
        }
    }
}
