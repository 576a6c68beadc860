import DefaultsClient
import Wording

/// Statistics about the database and the programs that write to it.
///
/// It needs one call for each domain, so that other programs have their turns between.
struct Census {
    struct Domain {
        let name: String
        let keys: UInt64
        let bytes: UInt64
    }

    struct Value {
        let domain: String
        let key: String
        let bytes: UInt64
    }

    /// The largest domains first.
    private(set) var domains: [Domain] = []
    /// The largest values of all domains, the largest first.
    private(set) var values: [Value] = []
    /// The programs with the most changes first.
    let writers: [(executable: String, changes: UInt64)]
    let facts: ServiceFacts?
    /// The number of the last action in the history, which counts all of them, and the time from which on it
    /// is complete; nil if the service does not tell.
    let history: (actions: UInt64, knownFrom: Int64)?
    /// Who uses at least half of a bound, the nearest first.
    let quotas: [RemoteQuota]

    /// Collects the statistics.
    ///
    /// - Parameter count: How many of the largest values to name.
    init(of defaults: RemoteDefaults, largest count: UInt32) async throws {
        for domain in try await defaults.domains() {
            let measure = try await defaults.measure(domain, largest: count)
            // The domain was removed meanwhile.
            guard measure.keys > 0 else { continue }
            domains.append(
                Domain(
                    name: domain, keys: measure.keys,
                    bytes: measure.nameBytes + measure.archiveBytes))
            values += measure.largest.map { Value(domain: domain, key: $0.key, bytes: $0.size) }
            values.sort { $0.bytes > $1.bytes }
            values.removeLast(max(0, values.count - Int(count)))
        }
        domains.sort { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        writers = try await defaults.writers()
        facts = try await defaults.facts()
        quotas = try await defaults.quotas(from: 50) ?? []
        var query = HistoryQuery()
        query.limit = 1
        history = (try? await defaults.actions(query)).map {
            ($0.actions.first?.number ?? 0, $0.knownFrom)
        }
    }

    var keys: UInt64 { domains.reduce(0) { $0 + $1.keys } }
    var bytes: UInt64 { domains.reduce(0) { $0 + $1.bytes } }
}

extension Census {
    /// The statistics as text for people.
    func text(longest: Int) -> String {
        var summary = Columns(areNumbers: [false, false])
        summary.rows = [
            ["domains", "\(domains.count)"], ["keys", "\(keys)"],
            ["names and values", Amount.bytes(bytes)],
        ]
        if let size = facts?.databaseSize {
            summary.rows.append(["database on disk", Amount.bytes(size)])
        }
        if let activity = facts?.activity {
            summary.rows += [
                ["uptime", Amount.time(activity.uptime)],
                ["calls since start", "\(activity.calls)"],
                ["changes since start", "\(activity.changes)"],
                ["flushes since start", counted(activity.flushes, "time")],
            ]
        }
        if let history {
            let from = LocalTime(UInt64(clamping: history.knownFrom)).text
            summary.rows.append([
                "history", "\(counted(history.actions, "action")) so far, complete from \(from) on",
            ])
        }
        var largest = Columns(areNumbers: [true, true, false])
        largest.rows = domains.prefix(longest).map {
            [Amount.bytes($0.bytes), counted($0.keys, "key"), $0.name]
        }
        var values = Columns(areNumbers: [true, false, false])
        values.rows = self.values.prefix(longest).map {
            [Amount.bytes($0.bytes), $0.domain, $0.key.onOneLine]
        }
        var writers = Columns(areNumbers: [true, false])
        writers.rows = self.writers.prefix(longest).map {
            ["\($0.changes)", $0.executable.isEmpty ? "(unknown)" : $0.executable.onOneLine]
        }
        return [
            summary.lines, ["largest domains:"] + largest.lines, ["largest values:"] + values.lines,
            ["near a bound:"] + QuotaList(quotas).lines(longest: longest),
            ["changes by program, since the start of the service:"] + writers.lines,
        ].filter { $0.count > 1 }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// The same as one JSON object.
    func json(longest: Int) throws -> String {
        var members = [
            ("domainCount", "\(domains.count)"), ("keys", "\(keys)"), ("bytes", "\(bytes)"),
        ]
        if let size = facts?.databaseSize { members.append(("databaseBytes", "\(size)")) }
        if let activity = facts?.activity {
            members += [
                ("uptime", "\(activity.uptime)"), ("calls", "\(activity.calls)"),
                ("changes", "\(activity.changes)"), ("flushes", "\(activity.flushes)"),
            ]
        }
        if let history {
            let from = UniversalTime(UInt64(clamping: history.knownFrom)).text
            members += [
                ("historyActions", "\(history.actions)"), ("historyKnownFrom", try from.quoted),
            ]
        }
        let domains = try domains.prefix(longest).map {
            try ShownJSON.object([
                ("domain", $0.name.quoted), ("keys", "\($0.keys)"), ("bytes", "\($0.bytes)"),
            ])
        }
        let values = try values.prefix(longest).map {
            try ShownJSON.object([
                ("domain", $0.domain.quoted), ("key", $0.key.quoted), ("bytes", "\($0.bytes)"),
            ])
        }
        let writers = try writers.prefix(longest).map {
            try ShownJSON.object([
                ("executable", $0.executable.isEmpty ? "null" : $0.executable.quoted),
                ("changes", "\($0.changes)"),
            ])
        }
        let quotas = try QuotaList(quotas).json(longest: longest)
        for (name, list) in [
            ("domains", domains), ("values", values), ("quotas", quotas), ("writers", writers),
        ] {
            members.append((name, "[\(list.joined(separator: ","))]"))
        }
        return try ShownJSON.object(members)
    }
}
