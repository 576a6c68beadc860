package import KeyedArchive
internal import PropertyList

/// Reads and changes parts of a value by their paths.
///
/// A path uses the names of the archive's value form. It leads to the entries of dictionaries, the
/// fields of objects (except `$class`), and the elements of arrays and sets. If `$top` of the
/// archive has other keys than `root`, the path begins with one of them. `NS.objects` of a set is a
/// list, and so are `NS.keys` and `NS.objects` of a dictionary that is not shown as one. If keys
/// are equal, a path finds the first.
///
/// The time is linear in the archives.
extension KeyedArchive {
    /// The part of the value at a path, as a separate archive.
    ///
    /// It contains everything that the part refers to, with the same sharing, cycles and classes.
    /// An inline part of the property list becomes an object: NSArray, NSDictionary or a scalar. An
    /// empty path returns the archive itself. The part may be nested as deep as the archive, which
    /// can be deeper than the standard limits allow.
    ///
    /// ```swift
    /// let volume = try archive.value(at: ValuePath("options.audio.volume"))
    /// ```
    ///
    /// - Throws: ``ValuePathError`` if there is no such part.
    package func value(at path: ValuePath) throws(ValuePathError) -> KeyedArchive {
        guard !path.steps.isEmpty else { return self }
        let seat = try PathWalk(in: self, along: path).run()
        guard !seat.isNew else { throw seat.missing(path) }
        return extracted(seat)
    }

    /// The archive with another value for a part.
    ///
    /// The rest stays unchanged.
    ///
    /// A missing entry of a dictionary, field of an object, or element `[count]` of an array is
    /// added. If several places share an object, its change is visible in all of them. Setting a
    /// place changes what it refers to, and not the object that it referred to. Numbers and
    /// booleans are inline in fields, unless a number object was there before.
    ///
    /// The elements of an NSSet cannot be set one by one, but its `NS.objects` can.
    ///
    /// - Throws: ``ValuePathError`` if a step leads nowhere, or if the value is not allowed there.
    package func setting(
        _ path: ValuePath, to value: KeyedArchive
    ) throws(ValuePathError) -> KeyedArchive {
        let value = try GraftedValue(value)
        let seat = try PathWalk(in: self, along: path).run()
        if !seat.isNew, extracted(seat).isSame(as: value.extracted) { return self }
        var edit = ArchiveEdit(self, at: path, value: value.archive)
        try edit.set(seat, to: value)
        return try edit.finish()
    }

    /// The archive without a part.
    ///
    /// The rest stays unchanged.
    ///
    /// - Throws: ``ValuePathError`` if there is no such part, or it is the whole value.
    package func removing(_ path: ValuePath) throws(ValuePathError) -> KeyedArchive {
        let seat = try PathWalk(in: self, along: path).run()
        var edit = ArchiveEdit(self, at: path)
        try edit.remove(seat)
        return try edit.finish()
    }

    /// The value at a seat, as a separate archive.
    fileprivate func extracted(_ seat: Seat) -> KeyedArchive {
        var draft = Draft(of: self)
        let root: Draft.Slot
        if let (_, index) = place(of: seat) {
            if case .uid(let uid) = list.value(at: index) {
                root = isNil(uid) ? 0 : Draft.Slot(uid)
            } else {
                var hoisting = Hoisting(in: draft)
                root = hoisting.hoist(index.position)
                draft = hoisting.draft
            }
        } else if case .list(let elements, _) = seat {
            let list = draft.add(.list(.array, draft.nodes(of: elements)))
            var hoisting = Hoisting(in: draft)
            root = hoisting.hoist(list)
            draft = hoisting.draft
        } else {
            preconditionFailure("A missing part was used.")
        }
        var walk = SlotWalk(over: draft)
        walk.enter(root, in: draft)
        walk.enter(0, in: draft)
        do {
            return try DraftWriter(of: draft, order: [0] + walk.order.filter { $0 != 0 })
                .archive(root: root)
        } catch {
            preconditionFailure("A part of an archive is not an archive: \(error)")
        }
    }
}

extension GraftedValue {
    /// The value without anything else.
    fileprivate var extracted: KeyedArchive {
        archive.extracted(.root(Place(owner: .top), reference))
    }
}

extension Seat {
    /// The error for a missing part.
    func missing(_ path: ValuePath) -> ValuePathError {
        let count = path.steps.count - 1
        switch self {
        case .newPair, .newField(_, _, isEntry: true):
            return .noName(path, after: count, .dictionary)
        case .newField(let holder, _, isEntry: false):
            return .noName(path, after: count, holder.isObject ? .object : .top)
        case .newElement(let list):
            return .noIndex(path, after: count, list.kind, has: list.count)
        case .root, .field, .pair, .element, .list:
            preconditionFailure("An existing part is not missing.")
        }
    }
}
