package import KeyedArchive

/// Finds out what a document changes.
///
/// It knows three things of each key: what the document wants, what there is, and what the owner has made of it
/// before (the row). So it can tell a user's change from its own.
///
/// Invariants:
/// 1. A value that is overwritten and is not the owner's own last one becomes the one that comes back.
/// 2. A key that left the document goes back only if it is still as the owner has made it.
/// 3. A key has one owner, except for lists and dictionaries whose parts have different ones.
/// 4. What holds already is not changed. Its row is compared by its bytes, and is decoded only if they do not say so.
package struct Planner {
    /// How values with an exact type are compared and made.
    package protocol Typing {
        /// The value without its exact type.
        func shown(_ value: KeyedArchive) throws -> KeyedArchive
        /// A value with the exact type of another one.
        ///
        /// - Throws: An error if it cannot have that type.
        func fitted(_ value: KeyedArchive, like other: KeyedArchive?) throws -> KeyedArchive
    }

    let owner: Owner
    /// The wishes of keys that change, or have other owners.
    private var open: [Wish]
    /// The wishes of keys that the owner has, and that are as wished already.
    private var held: [Wish]
    /// The keys that the owner has, and wants no more.
    private let left: [KeyPlace]
    private let live: [KeyPlace: KeyedArchive]
    private let own: Set<KeyPlace>
    private let rivals: [KeyPlace: [Owner]]
    let typing: any Typing
    /// Whether another owner's key is taken over.
    package var takesOver = false
    /// Whether a value goes that was there before the owner, when it leaves the document.
    package var removesFound = false

    /// - Parameters:
    ///   - document: What is wanted; without wishes, everything goes back.
    ///   - live: What the user's own layers have: at least of all wished and owned keys, and of all keys of the
    ///     domains from which keys are removed by their beginning.
    ///   - own: The keys for which the owner has a row.
    ///   - rivals: The other owners that have rows, by key.
    package init(
        _ document: OwnedDocument, live: [KeyPlace: KeyedArchive], own: Set<KeyPlace>,
        rivals: [KeyPlace: [Owner]], typing: any Typing
    ) {
        owner = document.owner
        self.live = live
        self.own = own
        self.rivals = rivals
        self.typing = typing
        let wished = Set(document.wishes.map(\.place))
        var gone: Set<KeyPlace> = []
        if !document.removals.isEmpty {
            let known = Dictionary(grouping: Set(live.keys).union(own), by: \.domain)
            for removal in document.removals {
                for place in known[removal.domain] ?? []
                where place.key.utf8.starts(with: removal.prefix.utf8) && !wished.contains(place) {
                    gone.insert(place)
                }
            }
        }
        left = own.subtracting(wished).subtracting(gone).sorted()
        (open, held) = ([], [])
        for wish in document.wishes + gone.sorted().map({ Wish($0, .absence) }) {
            if rivals[wish.place] == nil, holds(wish) {
                held.append(wish)
            } else {
                open.append(wish)
            }
        }
    }

    /// What the rows of wishes have to say that hold already.
    package var expectedRows: [ExpectedRow] {
        held.map { wish in
            let isOnce = if case .once = wish.demand { true } else { false }
            return ExpectedRow(
                name: RowName(owner, wish.place), place: wish.place,
                applied: live[wish.place].map(ValueChecksum.init), isOnce: isOnce)
        }
    }

    /// The rows that the plan looks at: those of keys that change, or have other owners.
    package func neededRows() -> [RowName] {
        var names: [RowName] = []
        func need(_ place: KeyPlace) {
            if own.contains(place) { names.append(RowName(owner, place)) }
            for rival in rivals[place] ?? [] { names.append(RowName(rival, place)) }
        }
        for wish in open { need(wish.place) }
        for place in left { need(place) }
        return names
    }

    /// Whether there is nothing to do for a key that the owner has.
    private func holds(_ wish: Wish) -> Bool {
        guard own.contains(wish.place) else { return false }
        switch wish.demand {
        case .value(let value):
            guard let live = live[wish.place] else { return false }
            return desired(value, at: wish.place).archive.isSame(as: live)
        case .absence: return live[wish.place] == nil
        case .once: return true
        case .parts: return false
        }
    }

    /// A whole value that is wished for, as it is stored.
    ///
    /// What cannot have the exact type of the value before has its own: the owner wants the whole value.
    private func desired(
        _ value: KeyedArchive, at place: KeyPlace
    ) -> (archive: KeyedArchive, replacesType: Bool) {
        guard let live = live[place] else { return (value, false) }
        guard let fitted = try? typing.fitted(value, like: live) else { return (value, true) }
        return (fitted.isSameButForDates(as: live) ? live : fitted, false)
    }

    /// Makes the plan.
    ///
    /// - Parameters:
    ///   - rows: The rows that ``neededRows()`` names; damaged ones are left out.
    ///   - effective: The value that programs see of a key without one of the user's own, for keys whose parts
    ///     are wished for.
    ///   - stale: The keys whose rows are not as ``expectedRows`` has them; their rows are among `rows`.
    package func plan(
        rows: [RowName: AppliedRow], effective: [KeyPlace: KeyedArchive],
        stale: Set<KeyPlace> = []
    ) -> DocumentPlan {
        var plan = DocumentPlan()
        plan.owned = own.count
        for wish in open {
            let key = Key(wish.place, of: self, rows)
            if !takesOver, let conflict = conflict(of: wish.demand, on: key) {
                plan.conflicts.append(conflict)
                continue
            }
            do {
                let step = try step(for: wish.demand, on: key, effective[wish.place])
                if let step { plan.steps.append(step) }
            } catch {
                plan.faults.append(.init(place: wish.place, reason: error))
            }
        }
        for wish in held where stale.contains(wish.place) {
            if let step = refresh(wish, Key(wish.place, of: self, rows)) { plan.steps.append(step) }
        }
        for place in left {
            var step = leave(Key(place, of: self, rows))
            step.leavesDocument = true
            if step.changesValue { plan.returned += 1 }
            plan.steps.append(step)
        }
        return plan
    }

    // MARK: One key

    /// What is known of a key.
    struct Key {
        let place: KeyPlace
        let live: KeyedArchive?
        /// Whether the owner has a row, which may be damaged.
        let isOwned: Bool
        let row: AppliedRow?
        let rivals: [(owner: Owner, row: AppliedRow?)]

        init(_ place: KeyPlace, of planner: Planner, _ rows: [RowName: AppliedRow]) {
            self.place = place
            live = planner.live[place]
            isOwned = planner.own.contains(place)
            row = rows[RowName(planner.owner, place)]
            rivals = (planner.rivals[place] ?? []).map { ($0, rows[RowName($0, place)]) }
        }
    }

    /// What the key had before this owner, if the owner sets it now.
    func former(of key: Key) -> AppliedRow.Former {
        // Of another owner that loses the key, or of this one.
        guard let row = key.rivals.first?.row ?? key.row, row.isIntact(key.live) else {
            return withoutParts(key, of: key.row)
        }
        if case .equal = row.former {
            return key.live.map(AppliedRow.Former.archive) ?? .absence
        }
        return row.former
    }

    private func step(
        for demand: Demand, on key: Key, _ effective: KeyedArchive?
    ) throws -> DocumentPlan.Step? {
        switch demand {
        case .value(let value):
            let desired = desired(value, at: key.place)
            var step = whole(desired.archive, key)
            step.replacesType = desired.replacesType
            return step
        case .absence: return whole(nil, key)
        case .once(let value):
            guard key.live == nil, !key.isOwned else { return nil }
            return whole(value, key, isOnce: true)
        case .parts(let parts): return try self.parts(parts, key, effective)
        }
    }

    /// The step that gives a key its whole value, or none.
    private func whole(
        _ value: KeyedArchive?, _ key: Key, isOnce: Bool = false
    ) -> DocumentPlan.Step {
        let sum = value.map(ValueChecksum.init)
        let isEqual = key.live.map(ValueChecksum.init) == sum
        let former: AppliedRow.Former
        if let row = key.row, isEqual, row.isIntact(key.live), row.parts.isEmpty {
            former = row.former
        } else {
            former = isEqual && key.rivals.isEmpty ? .equal : self.former(of: key)
        }
        let row = AppliedRow(
            owner: owner, place: key.place, applied: sum, former: former, isOnce: isOnce)
        // What an owner has set does not come back when another leaves.
        let isAnOwners = ([key.row] + key.rivals.map(\.row)).contains {
            $0?.isIntact(key.live) == true
        }
        return DocumentPlan.Step(
            place: key.place, outcome: isEqual ? .own : value == nil ? .remove : .set,
            before: key.live, after: value, formerOwner: key.rivals.first?.owner,
            replacesOthers: !isEqual && key.live != nil && !isAnOwners,
            rows: [(RowName(owner, key.place), row)]
                + key.rivals.map { (RowName($0.owner, key.place), nil) })
    }

    /// The step that notes what an owner has made of a key that is as wished; nil if that is noted.
    private func refresh(_ wish: Wish, _ key: Key) -> DocumentPlan.Step? {
        switch wish.demand {
        case .parts: return nil
        case .once:
            guard key.row?.isOnce != true else { return nil }
            var row =
                key.row
                ?? AppliedRow(
                    owner: owner, place: key.place, applied: key.live.map(ValueChecksum.init),
                    former: .equal)
            row.isOnce = true
            return DocumentPlan.Step(
                place: key.place, outcome: .own, before: key.live, after: key.live,
                rows: [(RowName(owner, key.place), row)])
        case .value, .absence:
            if let row = key.row, row.isIntact(key.live), row.parts.isEmpty, !row.isOnce {
                return nil
            }
            return whole(key.live, key)
        }
    }

    /// The step of a key that left the document.
    private func leave(_ key: Key) -> DocumentPlan.Step {
        let gone: [(name: RowName, row: AppliedRow?)] = [(RowName(owner, key.place), nil)]
        func step(
            _ outcome: DocumentPlan.Outcome, _ after: KeyedArchive?
        ) -> DocumentPlan.Step {
            DocumentPlan.Step(
                place: key.place, outcome: outcome, before: key.live, after: after, rows: gone)
        }
        guard let row = key.row else { return step(.kept, key.live) }
        guard row.parts.isEmpty else { return leaveParts(key, row) }
        guard row.isIntact(key.live) else { return step(.kept, key.live) }
        return switch row.former {
        case .absence: step(.restore, nil)
        case .archive(let archive): step(.restore, archive)
        case .equal: removesFound ? step(.restore, nil) : step(.found, key.live)
        }
    }
}
