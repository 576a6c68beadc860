import ArgumentParser
import DBus
import DefaultsClient
import DefaultsProtocol
import RoamingTerms

struct RoamStatusCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows whether everything was exchanged.",
        discussion: "Exit status: 0, or 1 if the last exchange was interrupted.")

    @Flag(help: "Print a JSON object.")
    var json = false

    static var needsBus: Bool { true }

    func run(with defaults: RemoteDefaults) async throws {
        let facts = try await RoamingService(on: defaults.connection).status()
        if json {
            try await SafeOutput.print(json: Self.object(facts, Self.secretNames(facts, defaults)))
        } else {
            try await Self.show(facts, defaults)
        }
        if case .string(let problem) = facts["Problem"], !problem.isEmpty { throw ExitCode(1) }
    }

    /// Prints the state for people.
    static func show(_ facts: [String: Value], _ defaults: RemoteDefaults) async throws {
        var columns = Columns(areNumbers: [false, false])
        columns.rows = [["state", state(facts)]]
        if let place = text(facts["Place"]), !place.isEmpty {
            columns.rows.append(["place", place])
        }
        if let problem = text(facts["Problem"]), !problem.isEmpty {
            columns.rows.append(["problem", problem])
        }
        if let time = count(facts["LastRound"]), time > 0 {
            columns.rows.append(["last exchange", LocalTime(time).text])
        }
        let (same, waiting) = (count(facts["Same"]) ?? 0, count(facts["Waiting"]) ?? 0)
        columns.rows.append([
            "keys", "\(same) the same here and there, \(waiting) to be sent",
        ])
        let conflicts = try await defaults.roamConflicts().count
        if conflicts > 0 {
            columns.rows.append(["conflicts", "\(conflicts); see: defaultsctl roam conflicts"])
        }
        for (key, reason) in obstacles(facts) {
            columns.rows.append(["stays", "\(key): \(reason)"])
        }
        for fact in unusable(facts) { columns.rows.append(["unusable", fact.onOneLine]) }
        if let warning = try await SecretNames.warning(of: secretNames(facts, defaults)) {
            columns.rows.append(["warning", warning])
        }
        for line in columns.lines { try SafeOutput.print(line) }
    }

    /// The keys that roam and look like secrets.
    private static func secretNames(
        _ facts: [String: Value], _ defaults: RemoteDefaults
    ) async throws -> [String] {
        ["off", "paused"].contains(text(facts["State"]))
            ? [] : try await defaults.roamingSecretNames()
    }

    private static func state(_ facts: [String: Value]) -> String {
        switch text(facts["State"]) {
        case "off": "off"
        case "paused": "paused; to continue: defaultsctl roam resume"
        case "upToDate": "up to date"
        case "working": "exchanging"
        case "failing": "interrupted; it is tried again"
        case let other: other ?? "unknown"
        }
    }

    private static func text(_ value: Value?) -> String? {
        if case .string(let text) = value { text.onOneLine } else { nil }
    }

    private static func count(_ value: Value?) -> UInt64? {
        if case .uint64(let count) = value { count } else { nil }
    }

    private static func obstacles(_ facts: [String: Value]) -> [(String, String)] {
        guard case .dictionary(_, _, let entries) = facts["Obstacles"] else { return [] }
        return entries.compactMap { entry in
            guard let key = text(entry.key), let reason = text(entry.value) else { return nil }
            return (key, reason)
        }.sorted { $0.0 < $1.0 }
    }

    /// What cannot be used at the place, other than keys.
    static func unusable(_ facts: [String: Value]) -> [String] {
        guard case .array(_, let elements) = facts["Unusable"] else { return [] }
        return elements.compactMap { if case .string(let fact) = $0 { fact } else { nil } }
    }

    private static func object(
        _ facts: [String: Value], _ secretNames: [String]
    ) throws -> String {
        var members: [(String, String)] = []
        for (name, value) in facts.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .string(let text): members.append((name, try text.quoted))
            case .uint64(let count): members.append((name, "\(count)"))
            default: break
            }
        }
        let obstacles = try obstacles(facts).map { ($0.0, try $0.1.quoted) }
        members.append(("Obstacles", try ShownJSON.object(obstacles)))
        for (name, list) in [("Unusable", unusable(facts)), ("LikelySecrets", secretNames)] {
            members.append((name, "[\(try list.map { try $0.quoted }.joined(separator: ","))]"))
        }
        return try ShownJSON.object(members)
    }
}
