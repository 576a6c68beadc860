import DefaultsClient
import DefaultsProtocol

/// The keys of a domain that are managed, locked, or in several layers.
struct DomainExplanation {
    private struct Row {
        let key: String
        /// The layers that have the key or lock it, the strongest first.
        let layers: [LayerEntry]

        var holder: LayerEntry? { layers.first(where: \.hasValue) }
        var lock: LayerEntry? { layers.first(where: \.isLocked) }
        /// The layers whose values are overridden.
        var overridden: [LayerEntry] { Array(layers.filter(\.hasValue).dropFirst()) }
        var isRemarkable: Bool { lock != nil || !overridden.isEmpty }

        var state: String {
            guard let lock else { return "" }
            return lock.hasValue ? "managed" : "locked"
        }
    }

    let domain: String
    private var rows: [Row] = []
    /// The locks of prefixes.
    private let prefixes: [RemoteLock]

    /// Gets the information from the service.
    ///
    /// - Throws: `ToolError` if the domain has no key of its own, and there is nothing to report.
    init(of domain: String, asking defaults: RemoteDefaults) async throws {
        self.domain = domain
        let locks = try await defaults.locks(of: domain)
        prefixes = locks.filter { $0.pattern.hasSuffix("*") }
        var (counts, hasOwn): ([String: Int], Bool) = ([:], false)
        for layer in DefaultsLayer.searchList(of: domain).compactMap({ $0.domain(of: domain) }) {
            let keys = try await defaults.keys(in: layer)
            if !keys.isEmpty, layer.prefix(while: { $0 != "@" }) == domain { hasOwn = true }
            for key in keys { counts[key, default: 0] += 1 }
        }
        let index = LockIndex(locks)
        let names = Set(locks.map(\.pattern)).subtracting(prefixes.map(\.pattern))
            .union(counts.filter { $0.value > 1 || index.seemsToCover($0.key) }.keys)
        for key in names.sorted() {
            guard let layers = try await Self.layers(of: key, in: domain, defaults) else {
                continue
            }
            let row = Row(key: key, layers: layers)
            if row.isRemarkable { rows.append(row) }
        }
        guard hasOwn || !rows.isEmpty || !prefixes.isEmpty else {
            throw await defaults.noDomain(domain)
        }
    }

    private static func layers(
        of key: String, in domain: String, _ defaults: RemoteDefaults
    ) async throws -> [LayerEntry]? {
        do {
            return try await defaults.explain(key, in: domain)
        } catch let error as DefaultsError where error.code == .notFound {
            // The key was removed meanwhile.
            return nil
        }
    }

    /// A line for each key, for people.
    var text: String {
        guard !rows.isEmpty || !prefixes.isEmpty else {
            return "\(domain.onOneLine): nothing is managed, locked or overridden"
        }
        var columns = Columns(
            headings: ["key", "layer", "state", "", "file"],
            areNumbers: [false, false, false, false, false])
        columns.rows = rows.map { row in
            let others = row.overridden.map { $0.layer.rawValue.onOneLine }.joined(separator: ", ")
            return [
                row.key.onOneLine, row.holder?.layer.rawValue.onOneLine ?? "-", row.state,
                others.isEmpty ? "" : "over \(others)",
                (row.lock ?? row.holder)?.source.onOneLine ?? "",
            ]
        }
        columns.rows += prefixes.map {
            [$0.pattern.onOneLine, "", "locked", "", $0.file.onOneLine]
        }
        return columns.lines.map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    var json: String {
        get throws {
            let keys = try rows.map { row in
                try ShownJSON.object([
                    ("key", row.key.quoted),
                    ("holds", row.holder.map { try $0.layer.rawValue.quoted } ?? "null"),
                    ("locked", "\(row.lock != nil)"),
                    ("layers", "[\(row.layers.map(Self.json).joined(separator: ","))]"),
                ])
            }
            let locks = try prefixes.map {
                try ShownJSON.object([("key", $0.pattern.quoted), ("file", $0.file.quoted)])
            }
            return try ShownJSON.object([
                ("domain", domain.quoted), ("keys", "[\(keys.joined(separator: ","))]"),
                ("locks", "[\(locks.joined(separator: ","))]"),
            ])
        }
    }

    private static func json(_ entry: LayerEntry) throws -> String {
        try ShownJSON.object([
            ("layer", entry.layer.rawValue.quoted),
            ("file", entry.source.isEmpty ? "null" : entry.source.quoted),
            ("locked", "\(entry.isLocked)"), ("size", "\(entry.size)"),
        ])
    }
}
