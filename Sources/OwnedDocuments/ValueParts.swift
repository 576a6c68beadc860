internal import KeyedArchive
internal import PropertyList
internal import ValuePaths

/// Why a part of a value cannot be as a document wants it.
package struct PartFault: Error, CustomStringConvertible {
    package let description: String
}

/// Gives a value parts, and takes them back.
///
/// Invariants:
/// 1. A deed is noted for what was really changed. So what was there before is nobody's.
/// 2. ``undo(_:)`` takes back what still is as it was made, and leaves everything else.
/// 3. An element that two owners want, and that one of them has added, is there until both have gone.
struct ValueParts {
    private(set) var value: KeyedArchive?
    /// What was done, by path.
    private(set) var deeds: [AppliedRow.Part]
    private(set) var isChanged = false
    private(set) var deedsAreSame = true
    /// What other owners have done to the value.
    private let rivals: [AppliedRow.Part]

    /// - Parameters:
    ///   - deeds: What the owner has done to the value already.
    ///   - rivals: What other owners have done to it.
    init(
        of value: KeyedArchive?, keeping deeds: [AppliedRow.Part] = [],
        beside rivals: [AppliedRow.Part] = []
    ) {
        self.value = value
        self.deeds = deeds
        self.rivals = rivals
    }

    // MARK: Making

    /// Does what is demanded, and takes back what was done and is not demanded any more.
    mutating func make(_ demands: [PartDemand]) throws {
        let old = deeds
        let contents = Dictionary(demands.map { ($0.path.description, $0.content) }) { first, _ in
            first
        }
        var gone: [AppliedRow.Part] = []
        deeds = []
        for part in old {
            let (kept, left) = part.split(by: contents[part.path])
            if let kept { deeds.append(kept) }
            if let left { gone.append(left) }
        }
        if !gone.isEmpty {
            deedsAreSame = false
            undo(gone)
        }
        for demand in demands { try make(demand) }
    }

    private mutating func make(_ demand: PartDemand) throws {
        switch demand.content {
        case .value(let wanted): try set(demand.path, to: wanted)
        case .elements(let ensured, let unwanted):
            try change(demand.path, ensuring: ensured, without: unwanted)
        case .object(let className): try makeObject(className, at: demand.path)
        }
    }

    private mutating func set(_ path: ValuePath, to wanted: KeyedArchive) throws {
        let former = try part(at: path)
        if former?.isSame(as: wanted) == true {
            // Somebody has made it so after this owner had made it something else.
            let name = path.description
            let isOwn = deeds.contains { part in
                guard case .value(let applied, _) = part.deed, part.path == name else {
                    return false
                }
                return applied != ValueChecksum(of: wanted)
            }
            if isOwn { note(path, .value(applied: ValueChecksum(of: wanted), former: former)) }
            return
        }
        value = try setting(path, to: wanted)
        isChanged = true
        note(path, .value(applied: ValueChecksum(of: wanted), former: former))
    }

    private mutating func change(
        _ path: ValuePath, ensuring ensured: [KeyedArchive], without unwanted: [KeyedArchive]
    ) throws {
        let former = try part(at: path)
        var elements = try former.map { try Self.elements(of: $0, at: path) } ?? []
        var (added, removed): ([KeyedArchive], [KeyedArchive]) = ([], [])
        for element in unwanted where elements.contains(where: element.isSame) {
            elements.removeAll(where: element.isSame)
            removed.append(element)
        }
        for element in ensured where !elements.contains(where: element.isSame) {
            elements.append(element)
            added.append(element)
        }
        if !added.isEmpty || !removed.isEmpty {
            value = try setting(path, to: KeyedArchive(array: elements))
            isChanged = true
            note(path, .elements(added: added, removed: removed))
        }
        share(path, ensured, unwanted)
    }

    /// Notes what this owner wants, too, of what others have done (3).
    private mutating func share(
        _ path: ValuePath, _ ensured: [KeyedArchive], _ unwanted: [KeyedArchive]
    ) {
        let (theirs, own) = (rivals.elements(at: path), deeds.elements(at: path))
        func shared(
            _ wanted: [KeyedArchive], _ theirs: [KeyedArchive], _ own: [KeyedArchive]
        ) -> [KeyedArchive] {
            wanted.filter { element in
                theirs.contains(where: element.isSame) && !own.contains(where: element.isSame)
            }
        }
        let added = shared(ensured, theirs.added, own.added)
        let removed = shared(unwanted, theirs.removed, own.removed)
        guard !added.isEmpty || !removed.isEmpty else { return }
        note(path, .elements(added: added, removed: removed))
    }

    private mutating func makeObject(_ className: String, at path: ValuePath) throws {
        guard try part(at: path) == nil else { return }
        var builder = ValueFormBuilder()
        try builder.beginDictionary()
        try builder.key("$class")
        try builder.string(Text(className))
        try builder.endDictionary()
        let object = builder.finish()
        value = try setting(path, to: object)
        isChanged = true
        note(path, .value(applied: ValueChecksum(of: object), former: nil))
    }

    /// Notes what was done to a part, together with what was done to it before.
    private mutating func note(_ path: ValuePath, _ deed: AppliedRow.Part.Deed) {
        deedsAreSame = false
        let name = path.description
        let part = AppliedRow.Part(path: name, deed: deed)
        guard let place = deeds.firstIndex(where: { $0.path == name && $0.isLike(part) }) else {
            return deeds.append(part)
        }
        deeds[place] = AppliedRow.Part(path: name, deed: deeds[place].deed.followed(by: deed))
    }

    // MARK: Taking back

    /// Takes deeds back, the last first.
    mutating func undo(_ deeds: [AppliedRow.Part]) {
        for deed in deeds.reversed() {
            guard let path = deed.path.isEmpty ? ValuePath([]) : try? ValuePath(deed.path),
                let present = try? part(at: path)
            else { continue }
            // A part that has become something else is the user's.
            guard let undone = try? undo(deed.deed, at: path, present) else { continue }
            (value, isChanged) = (undone, true)
        }
    }

    private func undo(
        _ deed: AppliedRow.Part.Deed, at path: ValuePath, _ present: KeyedArchive
    ) throws -> KeyedArchive? {
        switch deed {
        case .value(let applied, let former):
            guard ValueChecksum(of: present) == applied else { return value }
            if let former { return try setting(path, to: former) }
            return path.steps.isEmpty ? value : try value?.removing(path)
        case .elements(let added, let removed):
            let theirs = rivals.elements(at: path)
            var elements = try Self.elements(of: present, at: path)
            elements.removeAll { element in
                added.contains(where: element.isSame)
                    && !theirs.added.contains(where: element.isSame)
            }
            for element in removed
            where !elements.contains(where: element.isSame)
                && !theirs.removed.contains(where: element.isSame)
            {
                elements.append(element)
            }
            return try setting(path, to: KeyedArchive(array: elements))
        }
    }

    // MARK: Parts

    /// Whether what was done to a value still is so.
    static func hold(_ deeds: [AppliedRow.Part], in value: KeyedArchive) -> Bool {
        let parts = ValueParts(of: value)
        return deeds.allSatisfy { deed in
            guard let path = deed.path.isEmpty ? ValuePath([]) : try? ValuePath(deed.path),
                let present = try? parts.part(at: path)
            else { return false }
            switch deed.deed {
            case .value(let applied, _): return ValueChecksum(of: present) == applied
            case .elements(let added, let removed):
                guard let elements = try? elements(of: present, at: path) else { return false }
                return added.allSatisfy { one in elements.contains(where: one.isSame) }
                    && !removed.contains { one in elements.contains(where: one.isSame) }
            }
        }
    }

    private func part(at path: ValuePath) throws -> KeyedArchive? {
        do throws(ValuePathError) {
            return try value?.value(at: path)
        } catch {
            guard error.code == .notFound else { throw PartFault(description: error.message) }
            return nil
        }
    }

    private func setting(_ path: ValuePath, to new: KeyedArchive) throws -> KeyedArchive {
        guard !path.steps.isEmpty else { return new }
        var whole = try value ?? KeyedArchive(dictionary: [:])
        // A dictionary inside one that is not there is made on the way.
        for length in 1..<path.steps.count {
            let outer = ValuePath(Array(path.steps.prefix(length)))
            if (try? whole.value(at: outer)) == nil {
                whole = try whole.setting(outer, to: KeyedArchive(dictionary: [:]))
            }
        }
        do throws(ValuePathError) {
            return try whole.setting(path, to: new)
        } catch {
            throw PartFault(description: error.message)
        }
    }

    private static func elements(
        of list: KeyedArchive, at path: ValuePath
    ) throws -> [KeyedArchive] {
        var kind = FirstEvent()
        try? list.render(into: &kind)
        guard kind.isArray else {
            let what = path.steps.isEmpty ? "The value" : "The part '\(path)'"
            throw PartFault(
                description: "\(what) is not an array, so it has no elements to ensure.")
        }
        return try list.elements()
    }
}

extension [AppliedRow.Part] {
    /// The elements that were put into a list, and taken out of it.
    fileprivate func elements(
        at path: ValuePath
    ) -> (added: [KeyedArchive], removed: [KeyedArchive]) {
        let name = path.description
        var all: (added: [KeyedArchive], removed: [KeyedArchive]) = ([], [])
        for part in self where part.path == name {
            guard case .elements(let added, let removed) = part.deed else { continue }
            all.added += added
            all.removed += removed
        }
        return all
    }
}

extension [AppliedRow.Part] {
    /// The paths of entries that had another's value, which these deeds have replaced and earlier ones have not.
    func replaced(since earlier: [AppliedRow.Part]) -> [String] {
        func formers(_ parts: [AppliedRow.Part]) -> [String: ValueChecksum] {
            var formers: [String: ValueChecksum] = [:]
            for part in parts {
                guard case .value(_, let former?) = part.deed else { continue }
                formers[part.path] = ValueChecksum(of: former)
            }
            return formers
        }
        let before = formers(earlier)
        return formers(self).filter { $0.value != before[$0.key] }.keys.sorted()
    }
}

extension AppliedRow.Part {
    /// Whether both are about elements, or both about a value.
    fileprivate func isLike(_ other: AppliedRow.Part) -> Bool {
        switch (deed, other.deed) {
        case (.elements, .elements), (.value, .value): true
        default: false
        }
    }

    /// What of a deed is still demanded, and what is not.
    fileprivate func split(
        by demand: PartDemand.Content?
    ) -> (kept: AppliedRow.Part?, gone: AppliedRow.Part?) {
        switch (deed, demand) {
        case (.value, .value), (.value, .object): return (self, nil)
        case (.elements(let added, let removed), .elements(let ensured, let unwanted)):
            let keptAdded = added.filter { one in ensured.contains(where: one.isSame) }
            let keptRemoved = removed.filter { one in unwanted.contains(where: one.isSame) }
            let goneAdded = added.filter { one in !ensured.contains(where: one.isSame) }
            let goneRemoved = removed.filter { one in !unwanted.contains(where: one.isSame) }
            func part(_ added: [KeyedArchive], _ removed: [KeyedArchive]) -> AppliedRow.Part? {
                guard !added.isEmpty || !removed.isEmpty else { return nil }
                return AppliedRow.Part(path: path, deed: .elements(added: added, removed: removed))
            }
            return (part(keptAdded, keptRemoved), part(goneAdded, goneRemoved))
        default: return (nil, self)
        }
    }
}

extension AppliedRow.Part.Deed {
    /// Both deeds as one.
    fileprivate func followed(by next: AppliedRow.Part.Deed) -> AppliedRow.Part.Deed {
        switch (self, next) {
        case (.elements(let added, let removed), .elements(let moreAdded, let moreRemoved)):
            func united(_ one: [KeyedArchive], _ two: [KeyedArchive]) -> [KeyedArchive] {
                one + two.filter { new in !one.contains(where: new.isSame) }
            }
            return .elements(
                added: united(added, moreAdded), removed: united(removed, moreRemoved))
        case (.value(let applied, let first), .value(let now, let former)):
            // What somebody else has made of it meanwhile is what comes back.
            let isOwn = former.map(ValueChecksum.init) == applied
            return .value(applied: now, former: isOwn ? first : former)
        default: return next
        }
    }
}

/// Whether the first event of a value is the beginning of an array.
private struct FirstEvent: ValueFormSink {
    private struct Known: Error {}

    private(set) var isArray = false

    mutating func null() throws { throw Known() }
    mutating func boolean(_ value: Bool) throws { throw Known() }
    mutating func integer(_ value: Int128) throws { throw Known() }
    mutating func real(_ value: Double) throws { throw Known() }
    mutating func string(_ value: Text) throws { throw Known() }
    mutating func data(_ value: ArraySlice<UInt8>) throws { throw Known() }
    mutating func bytes(_ value: ArraySlice<UInt8>) throws { throw Known() }
    mutating func date(_ secondsSince2001: Double) throws { throw Known() }
    mutating func reference(to uid: UInt64) throws { throw Known() }
    mutating func beginArray() throws {
        isArray = true
        throw Known()
    }
    mutating func endArray() throws {}
    mutating func beginDictionary() throws { throw Known() }
    mutating func key(_ key: Text) throws {}
    mutating func endDictionary() throws {}
}
