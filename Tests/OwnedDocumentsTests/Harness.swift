import KeyedArchive
import Testing

@testable import OwnedDocuments

/// A database of one user in memory, with the rows of owners.
struct Desk {
    private(set) var live: [KeyPlace: KeyedArchive] = [:]
    private(set) var rows: [RowName: AppliedRow] = [:]
    /// What programs see of keys without a value.
    var defaults: [KeyPlace: KeyedArchive] = [:]
    var typing: any Planner.Typing = PlainTyping()

    static let domain = "org.example.App"

    /// The values in JSON.
    var values: [String: String] {
        Dictionary(uniqueKeysWithValues: live.map { ($0.key.key, text(of: $0.value)) })
    }

    subscript(key: String) -> String? {
        get { values[key] }
        set { live[KeyPlace(domain: Self.domain, key: key)] = newValue.map(archive) }
    }

    func row(_ owner: String, _ key: String) -> AppliedRow? {
        Owner(owner).flatMap { rows[RowName($0, KeyPlace(domain: Self.domain, key: key))] }
    }

    /// The plan for a document of one domain.
    func plan(
        _ owner: String, _ json: String, force: Bool = false, removesFound: Bool = false
    ) throws -> DocumentPlan {
        var reader = DocumentReader(try JSONSource(Array(json.utf8)), onHost: "here")
        return try plan(
            reader.domain(Self.domain, of: #require(Owner(owner))), force: force,
            removesFound: removesFound)
    }

    func plan(
        _ document: OwnedDocument, force: Bool = false, removesFound: Bool = false
    ) throws -> DocumentPlan {
        let names = rows.keys.compactMap { RowName.parts(of: $0.text) }
        var planner = Planner(
            document, live: live,
            own: Set(names.filter { $0.owner == document.owner }.map(\.place)),
            rivals: Dictionary(
                grouping: names.filter { $0.owner != document.owner }, by: \.place
            ).mapValues { $0.map(\.owner).sorted { $0.name < $1.name } }, typing: typing)
        planner.takesOver = force
        planner.removesFound = removesFound
        // The rows that it does not ask for are not there for it.
        var needed = Set(planner.neededRows())
        var stale: Set<KeyPlace> = []
        for expected in planner.expectedRows {
            guard let row = rows[expected.name], try !expected.isSaid(by: row.archive().bytes)
            else {
                continue
            }
            needed.insert(expected.name)
            stale.insert(expected.place)
        }
        return planner.plan(
            rows: rows.filter { needed.contains($0.key) }, effective: defaults, stale: stale)
    }

    /// Carries a plan out, unless others own what it wants.
    ///
    /// - Returns: Whether it did something.
    @discardableResult
    mutating func carryOut(_ plan: DocumentPlan) throws -> Bool {
        guard plan.conflicts.isEmpty, plan.faults.isEmpty else { return false }
        for step in plan.steps {
            live[step.place] = step.after
            for (name, row) in step.rows {
                // As it is stored.
                rows[name] = try row.map { try AppliedRow($0.archive().bytes) }
            }
        }
        return !plan.steps.isEmpty
    }

    @discardableResult
    mutating func apply(_ owner: String, _ json: String, force: Bool = false) throws -> Bool {
        try carryOut(plan(owner, json, force: force))
    }

    mutating func unapply(_ owner: String) throws { try carryOut(plan(owner, "{}")) }
}

struct PlainTyping: Planner.Typing {
    func shown(_ value: KeyedArchive) -> KeyedArchive { value }
    func fitted(_ value: KeyedArchive, like other: KeyedArchive?) -> KeyedArchive { value }
}

/// Values that are integers have an exact type, which only integers fit.
struct IntegerTyping: Planner.Typing {
    struct Unfit: Error {}

    func shown(_ value: KeyedArchive) -> KeyedArchive { value }
    func fitted(_ value: KeyedArchive, like other: KeyedArchive?) throws -> KeyedArchive {
        guard let other, Int(text(of: other)) != nil, Int(text(of: value)) == nil else {
            return value
        }
        throw Unfit()
    }
}

func archive(_ json: String) -> KeyedArchive {
    do {
        return try KeyedArchive(json: json)
    } catch {
        preconditionFailure("\(error)")
    }
}

func text(of archive: KeyedArchive) -> String {
    (try? String(decoding: archive.json(), as: UTF8.self)) ?? "?"
}
