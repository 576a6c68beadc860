import DconfFiles
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import OwnedDocuments

/// What the database has of the keys that owners have or want: read before a plan is made, and expected to be
/// so still when it is carried out.
struct OwnedState {
    /// The rows that are known, by their names.
    private(set) var rows: [RowName: AppliedRow] = [:]
    /// The values of the user's own layers.
    let live: [KeyPlace: KeyedArchive]
    /// The keys that the owner has.
    let own: Set<KeyPlace>
    /// The other owners of keys.
    let rivals: [KeyPlace: [Owner]]
    /// The names of all rows.
    private let rowNames: Set<RowName>
    /// The archives of all stored rows, if they were read as a whole.
    private var stored: [RowName: [UInt8]]?
    /// The generations of keys and rows that were read one by one; 0 for those that are not there.
    private var generations: [KeyPlace: UInt64] = [:]
    /// The generation after which nothing may have changed; nil if nothing was read as a whole.
    private(set) var readAt: UInt64?

    /// If a domain has more keys than this, it is read as a whole.
    private static let mostSingleKeys = 64

    /// Reads what a document needs.
    init(for document: OwnedDocument, from defaults: RemoteDefaults) async throws {
        let names = try await defaults.keys(in: AppliedTerms.domain)
        rowNames = Set(names.map(RowName.init(stored:)))
        let owners = try await Self.owners(of: names, in: defaults)
        own = Set(owners.filter { $0.owner == document.owner }.map(\.place))
        rivals = Dictionary(
            grouping: owners.filter { $0.owner != document.owner }, by: \.place
        ).mapValues { $0.map(\.owner) }
        var wanted = own
        for wish in document.wishes { wanted.insert(wish.place) }
        let whole = Set(document.removals.map(\.domain))
        var (live, generations): ([KeyPlace: KeyedArchive], [KeyPlace: UInt64]) = ([:], [:])
        var readAt: UInt64?
        let domains = Dictionary(grouping: wanted, by: \.domain)
        for domain in Set(domains.keys).union(whole).sorted() {
            let places = domains[domain] ?? []
            guard places.count > Self.mostSingleKeys || whole.contains(domain) else {
                for place in places {
                    let (archive, generation) = try await defaults.archiveIfThere(
                        forKey: place.key, in: domain)
                    live[place] = archive
                    generations[place] = generation
                }
                continue
            }
            let (entries, generation) = try await defaults.entries(in: domain)
            readAt = min(readAt ?? generation, generation)
            for entry in entries { live[KeyPlace(domain: domain, key: entry.key)] = entry.archive }
        }
        (self.live, self.generations, self.readAt) = (live, generations, readAt)
    }

    /// The owners of all rows, of which only those with very long names have to be read.
    static func owners(
        of names: [String], in defaults: RemoteDefaults
    ) async throws -> [(owner: Owner, place: KeyPlace)] {
        var owners: [(owner: Owner, place: KeyPlace)] = []
        for name in names {
            if let parts = RowName.parts(of: name) {
                owners.append(parts)
            } else if let archive = try await defaults.archiveIfThere(
                forKey: name, in: AppliedTerms.domain
            ).archive, let row = try row(archive.bytes, named: RowName(stored: name)) {
                owners.append((row.owner, row.place))
            }
        }
        return owners
    }

    /// Reads rows.
    ///
    /// - Throws: `ToolError` if a later version has written one. A damaged one is left out.
    mutating func readRows(_ names: [RowName], from defaults: RemoteDefaults) async throws {
        for (name, archive) in try await storedRows(names, from: defaults) {
            rows[name] = try Self.row(archive, named: name)
        }
    }

    /// Reads the rows of wishes that hold.
    ///
    /// - Returns: The keys whose rows do not say what they should.
    mutating func staleKeys(
        among expected: [ExpectedRow], from defaults: RemoteDefaults
    ) async throws -> Set<KeyPlace> {
        var stale: Set<KeyPlace> = []
        let archives = try await storedRows(expected.map(\.name), from: defaults)
        for (row, (name, archive)) in zip(expected, archives) where !row.isSaid(by: archive) {
            rows[name] = try Self.row(archive, named: name)
            stale.insert(row.place)
        }
        return stale
    }

    /// Rows as they are stored.
    private mutating func storedRows(
        _ names: [RowName], from defaults: RemoteDefaults
    ) async throws -> [(RowName, [UInt8])] {
        let domain = AppliedTerms.domain
        guard stored != nil || names.count > Self.mostSingleKeys else {
            var archives: [(RowName, [UInt8])] = []
            for name in names {
                let (archive, generation) = try await defaults.archiveIfThere(
                    forKey: name.text, in: domain)
                guard let archive else { throw ChangedMeanwhile() }
                generations[KeyPlace(domain: domain, key: name.text)] = generation
                archives.append((name, archive.bytes))
            }
            return archives
        }
        if stored == nil {
            let (entries, generation) = try await defaults.storedEntries(in: domain)
            readAt = min(readAt ?? generation, generation)
            stored = Dictionary(entries.map { (RowName(stored: $0.key), $0.archive) }) { first, _ in
                first
            }
        }
        return try names.map { name in
            guard let archive = stored?[name] else { throw ChangedMeanwhile() }
            return (name, archive)
        }
    }

    /// A key that has changed since it was read; nil if none has.
    func changedKey(in defaults: RemoteDefaults) async throws -> KeyPlace? {
        let domains = Set(live.keys.map(\.domain)).union(generations.keys.map(\.domain))
        for domain in domains.sorted() where domain != AppliedTerms.domain {
            let now = Dictionary(
                try await defaults.entries(in: domain).entries.map { ($0.key, $0.archive) }
            ) { first, _ in first }
            let known = Set(live.keys).union(generations.keys).filter { $0.domain == domain }
            let changed = known.sorted().first { place in
                switch (live[place], now[place.key]) {
                case (nil, nil): false
                case (let one?, let two?): !one.isSame(as: two)
                default: true
                }
            }
            if let changed { return changed }
        }
        return nil
    }

    private static func row(_ archive: [UInt8], named name: RowName) throws -> AppliedRow? {
        do throws(AppliedRow.Fault) {
            let row = try AppliedRow(archive)
            return RowName(row.owner, row.place) == name ? row : nil
        } catch {
            guard error == .later else { return nil }
            throw ToolError.laterRow(name.text)
        }
    }

    /// What must still be so when a step is made.
    func expectation(of place: KeyPlace) -> UInt64? {
        if let generation = generations[place] { return generation }
        return place.domain == AppliedTerms.domain && !rowNames.contains(RowName(stored: place.key))
            ? 0 : nil
    }

    /// The values that programs see of keys without one of the user's own, for those whose parts are wished for.
    ///
    /// What the owner itself has made in another layer does not count: it may go back in the same change.
    mutating func effective(
        for document: OwnedDocument, from defaults: RemoteDefaults
    ) async throws -> [KeyPlace: KeyedArchive] {
        var effective: [KeyPlace: KeyedArchive] = [:]
        for wish in document.wishes {
            // Where the user has a value, and no owner has made it, parts are made of that value.
            guard case .parts = wish.demand,
                live[wish.place] == nil || own.contains(wish.place) || rivals[wish.place] != nil
            else { continue }
            effective[wish.place] = try await value(below: wish.place, document.owner, defaults)
        }
        return effective
    }

    private mutating func value(
        below place: KeyPlace, _ owner: Owner, _ defaults: RemoteDefaults
    ) async throws -> KeyedArchive? {
        let domain = String(place.domain.prefix { $0 != "@" })
        var layers: [LayerEntry] = []
        do {
            layers = try await defaults.explain(place.key, in: domain)
        } catch let error as DefaultsError where error.code == .notFound {
            layers = []
        }
        for layer in layers where layer.hasValue {
            guard let name = layer.layer.domain(of: domain), name != place.domain else { continue }
            let other = KeyPlace(domain: name, key: place.key)
            let live = try await defaults.archiveIfThere(forKey: place.key, in: name).archive
            guard own.contains(other) else {
                guard let live else { continue }
                return live
            }
            let rowName = RowName(owner, other)
            try await readRows([rowName], from: defaults)
            guard let row = rows[rowName], row.isIntact(live) else { return live }
            switch row.former {
            case .absence: continue
            case .equal: return live
            case .archive(let archive): return archive
            }
        }
        guard let key = SchemaFolder(of: place.key, in: domain)?.key else { return nil }
        return try VariantForm.archive(of: key.defaultValue.form())
    }
}

extension RemoteDefaults {
    /// The value that programs see of a key: of the strongest layer, or the default of its schema.
    func effectiveValue(of place: KeyPlace) async throws -> KeyedArchive? {
        let domain = String(place.domain.prefix { $0 != "@" })
        do {
            return try await lookUp(place.key, in: domain).archive
        } catch let error as DefaultsError where error.code == .notFound {
            guard let key = SchemaFolder(of: place.key, in: domain)?.key else { return nil }
            return try VariantForm.archive(of: key.defaultValue.form())
        }
    }
}

/// Exact types, as `write` keeps them.
struct StoredTyping: Planner.Typing {
    func shown(_ value: KeyedArchive) throws -> KeyedArchive { try value.shown() }

    func fitted(_ value: KeyedArchive, like other: KeyedArchive?) throws -> KeyedArchive {
        try TypedWrite(value: value, isBare: false).value(replacing: other)
    }
}
