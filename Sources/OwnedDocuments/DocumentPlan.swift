package import KeyedArchive
internal import ValuePaths

/// What a document changes, key by key.
package struct DocumentPlan: Sendable {
    /// What becomes of a key.
    package enum Outcome: String, Sendable {
        /// It gets the value that the document wants.
        case set
        /// It loses its value, as the document wants.
        case remove
        /// It left the document, and has again what it had before the owner.
        case restore
        /// It left the document, and others have changed it since: it stays.
        case kept
        /// It left the document, and had its value before the owner: it stays.
        case found
        /// Nothing changes but who owns it.
        case own
    }

    /// One key.
    package struct Step: Sendable {
        package let place: KeyPlace
        package let outcome: Outcome
        /// What the user's own layer has now.
        package let before: KeyedArchive?
        /// What it has afterwards.
        package let after: KeyedArchive?
        /// The other owner that loses the key.
        package var formerOwner: Owner?
        /// Whether the value before is another's than this owner's last one, and is replaced.
        package var replacesOthers = false
        /// The rows that are written; nil for a row that goes.
        package var rows: [(name: RowName, row: AppliedRow?)]

        /// Whether the value changes.
        package var changesValue: Bool {
            switch (before, after) {
            case (nil, nil): false
            case (let one?, let two?): !one.isSame(as: two)
            default: true
            }
        }
    }

    /// A key that another owner has.
    package struct Conflict: Sendable {
        package let place: KeyPlace
        package let owner: Owner
    }

    /// A key whose value cannot be made.
    package struct Fault: Error {
        package let place: KeyPlace
        package let reason: any Error
    }

    package fileprivate(set) var steps: [Step] = []
    package fileprivate(set) var conflicts: [Conflict] = []
    /// How many keys the owner had before, and how many of them go back.
    package fileprivate(set) var owned = 0
    package fileprivate(set) var returned = 0

    package var isEmpty: Bool { steps.isEmpty }
}

/// Finds out what a document changes.
///
/// It knows three things of each key: what the document wants, what there is, and what the owner has made of it
/// before (the row). So it can tell a user's change from its own.
///
/// Invariants:
/// 1. A value that is overwritten and is not the owner's own last one becomes the one that comes back.
/// 2. A key that left the document goes back only if it is still as the owner has made it.
/// 3. A key has one owner, except for lists and dictionaries whose parts have different ones.
/// 4. What holds already is not changed, and costs no look at its row.
package struct Planner {
    /// How values with an exact type are compared and made.
    package protocol Typing {
        /// The value without its exact type.
        func shown(_ value: KeyedArchive) throws -> KeyedArchive
        /// A value with the exact type of another one.
        func fitted(_ value: KeyedArchive, like other: KeyedArchive?) throws -> KeyedArchive
    }

    private let owner: Owner
    /// The wishes of keys that change, or have other owners.
    private var open: [Wish]
    /// The wishes of keys that the owner has, and that are as wished already.
    private var held: [Wish]
    /// The keys that the owner has, and wants no more.
    private let left: [KeyPlace]
    private let live: [KeyPlace: KeyedArchive]
    private let own: Set<KeyPlace>
    private let rivals: [KeyPlace: [Owner]]
    private let typing: any Typing
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
    /// - Throws: ``DocumentPlan/Fault``.
    package init(
        _ document: OwnedDocument, live: [KeyPlace: KeyedArchive], own: Set<KeyPlace>,
        rivals: [KeyPlace: [Owner]], typing: any Typing
    ) throws {
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
            if try holds(wish), rivals[wish.place] == nil {
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
    private func holds(_ wish: Wish) throws -> Bool {
        guard own.contains(wish.place) else { return false }
        switch wish.demand {
        case .value(let value):
            guard let live = live[wish.place] else { return false }
            return try desired(value, at: wish.place).isSame(as: live)
        case .absence: return live[wish.place] == nil
        case .once: return true
        case .parts: return false
        }
    }

    private func desired(_ value: KeyedArchive, at place: KeyPlace) throws -> KeyedArchive {
        do {
            return try typing.fitted(value, like: live[place])
        } catch {
            throw DocumentPlan.Fault(place: place, reason: error)
        }
    }

    /// Makes the plan.
    ///
    /// - Parameters:
    ///   - rows: The rows that ``neededRows()`` names; damaged ones are left out.
    ///   - effective: The value that programs see of a key without one of the user's own, for keys whose parts
    ///     are wished for.
    ///   - stale: The keys whose rows are not as ``expectedRows`` has them; their rows are among `rows`.
    /// - Throws: ``DocumentPlan/Fault``.
    package func plan(
        rows: [RowName: AppliedRow], effective: [KeyPlace: KeyedArchive],
        stale: Set<KeyPlace> = []
    ) throws -> DocumentPlan {
        var plan = DocumentPlan()
        plan.owned = own.count
        for wish in open {
            let key = Key(wish.place, of: self, rows)
            if let rival = conflict(of: wish.demand, on: key), !takesOver {
                plan.conflicts.append(.init(place: wish.place, owner: rival))
                continue
            }
            do {
                let step = try step(for: wish.demand, on: key, effective[wish.place])
                if let step { plan.steps.append(step) }
            } catch let fault as DocumentPlan.Fault {
                throw fault
            } catch {
                throw DocumentPlan.Fault(place: wish.place, reason: error)
            }
        }
        for wish in held where stale.contains(wish.place) {
            if let step = refresh(wish, Key(wish.place, of: self, rows)) { plan.steps.append(step) }
        }
        for place in left {
            let step = leave(Key(place, of: self, rows))
            if step.changesValue { plan.returned += 1 }
            plan.steps.append(step)
        }
        return plan
    }

    // MARK: One key

    /// What is known of a key.
    private struct Key {
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
    private func former(of key: Key) -> AppliedRow.Former {
        // Of another owner that loses the key, or of this one.
        guard let row = key.rivals.first?.row ?? key.row, row.isIntact(key.live) else {
            return withoutParts(key, of: key.row)
        }
        if case .equal = row.former {
            return key.live.map(AppliedRow.Former.archive) ?? .absence
        }
        return row.former
    }

    /// The other owner with which a demand is in conflict; nil if there is none.
    private func conflict(of demand: Demand, on key: Key) -> Owner? {
        // It would do nothing.
        if case .once = demand, key.live != nil || key.isOwned { return nil }
        guard case .parts(let parts) = demand else { return key.rivals.first?.owner }
        return key.rivals.first { rival in
            guard let row = rival.row, !row.parts.isEmpty else { return true }
            return row.parts.contains { theirs in parts.contains { overlaps($0, theirs) } }
        }?.owner
    }

    private func overlaps(_ demand: PartDemand, _ part: AppliedRow.Part) -> Bool {
        let own = demand.path.description
        if case .elements(let ensured, let unwanted) = demand.content,
            case .elements(let added, let removed) = part.deed, own == part.path
        {
            // One wants what the other does not.
            return ensured.contains { one in removed.contains(where: one.isSame) }
                || unwanted.contains { one in added.contains(where: one.isSame) }
        }
        if case .object = demand.content { return false }
        return own.isEmpty || part.path.isEmpty || own == part.path
            || own.hasPrefix(part.path + ".")
            || part.path.hasPrefix(own + ".")
    }

    private func step(
        for demand: Demand, on key: Key, _ effective: KeyedArchive?
    ) throws -> DocumentPlan.Step? {
        switch demand {
        case .value(let value): return whole(try desired(value, at: key.place), key)
        case .absence: return whole(nil, key)
        case .once(let value):
            guard key.live == nil, !key.isOwned else { return nil }
            return whole(try desired(value, at: key.place), key, isOnce: true)
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
        return DocumentPlan.Step(
            place: key.place, outcome: isEqual ? .own : value == nil ? .remove : .set,
            before: key.live, after: value, formerOwner: key.rivals.first?.owner,
            replacesOthers: !isEqual && key.live != nil && !(key.row?.isIntact(key.live) ?? false),
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

    // MARK: Parts

    private func parts(
        _ demands: [PartDemand], _ key: Key, _ effective: KeyedArchive?
    ) throws -> DocumentPlan.Step? {
        let ground = ground(of: key)
        let start = ground.value ?? effective
        // What other owners lose goes first, so that it does not come back later.
        let rivals = key.rivals.map { rival in
            let split = split(rival.row?.parts ?? [], by: demands)
            return (owner: rival.owner, row: rival.row, kept: split.kept, lost: split.lost)
        }
        var parts = ValueParts(
            of: try start.map(typing.shown), keeping: ground.deeds,
            beside: rivals.flatMap(\.kept))
        let lost = rivals.flatMap(\.lost)
        if !lost.isEmpty { parts.undo(lost) }
        try parts.make(demands)
        let isOwner = !parts.deeds.isEmpty
        // Nothing of it is this owner's: it was there before.
        guard isOwner || key.isOwned else { return nil }
        if !isOwner, let row = key.row, !row.parts.isEmpty { return leaveParts(key, row) }
        let made = try parts.value.map { try typing.fitted($0, like: start) }
        let value = parts.isChanged ? made : ground.value
        let isChanged = value.map(ValueChecksum.init) != key.live.map(ValueChecksum.init)
        if !isChanged, isOwner, parts.deedsAreSame, key.row != nil { return nil }
        let row =
            isOwner
            ? AppliedRow(
                owner: owner, place: key.place, applied: value.map(ValueChecksum.init),
                former: ground.former, parts: parts.deeds)
            : nil
        return DocumentPlan.Step(
            place: key.place, outcome: isChanged ? .set : .own, before: key.live, after: value,
            formerOwner: rivals.first { $0.kept.isEmpty || !$0.lost.isEmpty }?.owner,
            rows: [(RowName(owner, key.place), row)]
                + rivals.map { rival in
                    var row = rival.row
                    row?.parts = rival.kept
                    return (RowName(rival.owner, key.place), moved(row, key, to: value))
                })
    }

    /// What another owner keeps of its parts, and what it loses to this one.
    private func split(
        _ parts: [AppliedRow.Part], by demands: [PartDemand]
    ) -> (kept: [AppliedRow.Part], lost: [AppliedRow.Part]) {
        guard takesOver else { return (parts, []) }
        let lost = parts.filter { theirs in demands.contains { overlaps($0, theirs) } }
        let kept = parts.filter { theirs in !demands.contains { overlaps($0, theirs) } }
        return (kept, lost)
    }

    /// What an owner's parts are put into.
    private struct Ground {
        /// The value of the user's own.
        let value: KeyedArchive?
        /// What comes back when the owner leaves.
        let former: AppliedRow.Former
        /// What the owner has done to it already.
        var deeds: [AppliedRow.Part] = []
    }

    private func ground(of key: Key) -> Ground {
        // A whole value of this owner, or of another that loses the key, is not what parts are put into.
        let whole = ([key.row] + key.rivals.map(\.row)).lazy.compactMap(\.self).first {
            $0.parts.isEmpty && $0.isIntact(key.live)
        }
        if let whole {
            switch whole.former {
            case .absence: return Ground(value: nil, former: .absence)
            case .archive(let archive): return Ground(value: archive, former: whole.former)
            case .equal: break
            }
        }
        guard let live = key.live else { return Ground(value: nil, former: .absence) }
        guard let row = key.row, !row.parts.isEmpty else {
            // Beside another owner of parts, both go back to what was there before the first.
            let first = key.rivals.lazy.compactMap(\.row).first {
                !$0.parts.isEmpty && $0.isIntact(live)
            }
            return Ground(value: live, former: first?.former ?? withoutParts(key, of: nil))
        }
        if row.isIntact(live) {
            return Ground(value: live, former: row.former, deeds: row.parts)
        }
        return Ground(value: live, former: withoutParts(key, of: row), deeds: row.parts)
    }

    /// What the key would have without the parts of all owners.
    private func withoutParts(_ key: Key, of row: AppliedRow?) -> AppliedRow.Former {
        var parts = ValueParts(of: (try? key.live.map(typing.shown)) ?? key.live)
        for row in key.rivals.compactMap(\.row) + [row].compactMap(\.self) { parts.undo(row.parts) }
        guard parts.isChanged else { return key.live.map(AppliedRow.Former.archive) ?? .absence }
        let value = try? parts.value.map { try typing.fitted($0, like: key.live) }
        return (value ?? parts.value).map(AppliedRow.Former.archive) ?? .absence
    }

    private func leaveParts(_ key: Key, _ row: AppliedRow) -> DocumentPlan.Step {
        let others = key.rivals.filter { $0.row?.parts.isEmpty == false }
        let after: KeyedArchive?
        switch row.former {
        case .absence where row.isIntact(key.live) && others.isEmpty: after = nil
        case .archive(let archive) where row.isIntact(key.live) && others.isEmpty: after = archive
        default:
            var parts = ValueParts(
                of: (try? key.live.map(typing.shown)) ?? key.live,
                beside: others.flatMap { $0.row?.parts ?? [] })
            parts.undo(row.parts)
            after = (try? parts.value.map { try typing.fitted($0, like: key.live) }) ?? parts.value
        }
        let isChanged = after.map(ValueChecksum.init) != key.live.map(ValueChecksum.init)
        return DocumentPlan.Step(
            place: key.place, outcome: isChanged ? .restore : .kept, before: key.live, after: after,
            rows: [(RowName(owner, key.place), nil)]
                + others.map {
                    (RowName($0.owner, key.place), moved($0.row, key, to: after))
                })
    }

    /// The row of another owner of parts, whose value this owner changes.
    private func moved(
        _ row: AppliedRow?, _ key: Key, to value: KeyedArchive?
    ) -> AppliedRow? {
        guard var row, !row.parts.isEmpty else { return nil }
        // What the user has made of it is what comes back, also if this owner now happens to make the value of
        // before.
        if !row.isIntact(key.live) { row.former = withoutParts(key, of: key.row) }
        row.applied = value.map(ValueChecksum.init)
        return row
    }
}

/// What a row says if its owner has made a key what it is.
package struct ExpectedRow: Sendable {
    package let name: RowName
    package let place: KeyPlace
    fileprivate let applied: ValueChecksum?
    fileprivate let isOnce: Bool

    /// Whether a stored row says it.
    ///
    /// - Returns: False also if only decoding would tell.
    package func isSaid(by row: KeyedArchive) -> Bool {
        AppliedRow.isSaid(applied, once: isOnce, by: row)
    }
}
