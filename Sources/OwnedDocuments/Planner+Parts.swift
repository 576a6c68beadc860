internal import KeyedArchive
internal import ValuePaths

/// Keys whose parts have owners of their own.
extension Planner {
    /// The conflict of a demand with another owner; nil if there is none.
    func conflict(of demand: Demand, on key: Key) -> DocumentPlan.Conflict? {
        // It would do nothing.
        if case .once = demand, key.live != nil || key.isOwned { return nil }
        for rival in key.rivals {
            guard case .parts(let parts) = demand, let row = rival.row, !row.parts.isEmpty else {
                return .init(place: key.place, owner: rival.owner, part: nil)
            }
            let torn = row.parts.first { theirs in parts.contains { overlaps($0, theirs) } }
            if let torn { return .init(place: key.place, owner: rival.owner, part: torn.path) }
        }
        return nil
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

    func parts(
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
        // Another owner loses it, also if it then is as wished without this one.
        let isTaken =
            takesOver && rivals.contains { $0.row?.parts.isEmpty != false || !$0.lost.isEmpty }
        // Nothing of it is this owner's: it was there before.
        guard isOwner || key.isOwned || isTaken else { return nil }
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
        var step = DocumentPlan.Step(
            place: key.place, outcome: !isChanged ? .own : value == nil ? .remove : .set,
            before: key.live, after: value,
            formerOwner: rivals.first { $0.kept.isEmpty || !$0.lost.isEmpty }?.owner,
            rows: [(RowName(owner, key.place), row)]
                + rivals.map { rival in
                    var row = rival.row
                    row?.parts = rival.kept
                    return (RowName(rival.owner, key.place), moved(row, key, to: value))
                })
        step.replacedParts = parts.deeds.replaced(since: ground.deeds)
        return step
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
    func withoutParts(_ key: Key, of row: AppliedRow?) -> AppliedRow.Former {
        var parts = ValueParts(of: (try? key.live.map(typing.shown)) ?? key.live)
        for row in key.rivals.compactMap(\.row) + [row].compactMap(\.self) { parts.undo(row.parts) }
        guard parts.isChanged else { return key.live.map(AppliedRow.Former.archive) ?? .absence }
        let value = try? parts.value.map { try typing.fitted($0, like: key.live) }
        return (value ?? parts.value).map(AppliedRow.Former.archive) ?? .absence
    }

    func leaveParts(_ key: Key, _ row: AppliedRow) -> DocumentPlan.Step {
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
        // What is still so is the others' from then on.
        let outcome: DocumentPlan.Outcome = isChanged ? .restore : others.isEmpty ? .kept : .own
        return DocumentPlan.Step(
            place: key.place, outcome: outcome, before: key.live, after: after,
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
