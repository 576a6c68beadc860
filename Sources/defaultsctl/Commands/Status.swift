import ArgumentParser
import DefaultsClient

struct Status: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the state of the service.",
        discussion: "If something does not work, run 'defaultsctl doctor'.")

    @Flag(help: "Print one JSON object.")
    var json = false

    func run(with defaults: RemoteDefaults) async throws {
        let state = try await ServiceState(of: defaults)
        if json { return try SafeOutput.print(json: state.json()) }
        try SafeOutput.print(state.text)
    }
}

/// What is known about the service.
private struct ServiceState {
    let status: ServiceStatus
    let route: RemoteDefaults.Route
    /// Nil if the daemon does not tell: it was not restarted after an update.
    let facts: ServiceFacts?
    let backups: [RemoteBackup]?
    let files: [RemoteLayerFile]?
    let hosts: [RemoteHost]?
    /// Who uses at least four fifths of a bound.
    let quotas: [RemoteQuota]?

    init(of defaults: RemoteDefaults) async throws {
        status = try await defaults.status()
        route = defaults.route
        facts = try await defaults.facts()
        let isTold = facts != nil
        backups = isTold ? try? await defaults.backups() : nil
        files = isTold ? try? await defaults.layerFiles() : nil
        hosts = isTold ? try? await defaults.hosts() : nil
        quotas = isTold ? try? await defaults.quotas(from: 80) : nil
    }

    /// The state as text for people.
    var text: String {
        var columns = Columns(areNumbers: [false, false])
        columns.rows = [
            ["version", status.version],
            ["connection", route.words],
            ["database", status.databasePath.onOneLine],
            ["generation", "\(status.generation)"],
            ["durable generation", "\(status.durableGeneration)"],
            ["pending changes", "\(status.pendingChanges)"],
            [
                "storage error",
                status.storageError.isEmpty ? "none" : status.storageError.onOneLine,
            ],
            ["largest value", "\(status.maximumValueSize) bytes"],
        ]
        if let fileSystem = facts?.fileSystem {
            columns.rows.append(["file system", fileSystem.words])
        }
        if let facts { columns.rows.append(["damage", facts.lastRepair?.words ?? "none"]) }
        if let backups { columns.rows.append(["backups", summary(of: backups)]) }
        if let quotas { columns.rows.append(["quotas", QuotaList(quotas).summary]) }
        if let hosts { columns.rows += rows(of: hosts) }
        if let files { columns.rows.append(["layers' files", LayerFileList(files).summary]) }
        return (columns.lines + (files.map { LayerFileList($0).lines } ?? []))
            .joined(separator: "\n")
    }

    /// The same as one JSON object.
    func json() throws -> String {
        var members = [
            ("version", try status.version.quoted), ("connection", try route.rawValue.quoted),
            ("database", try status.databasePath.quoted),
            ("generation", "\(status.generation)"),
            ("durableGeneration", "\(status.durableGeneration)"),
            ("pendingChanges", "\(status.pendingChanges)"),
            ("storageError", status.storageError.isEmpty ? "null" : try status.storageError.quoted),
            ("maximumValueSize", "\(status.maximumValueSize)"),
        ]
        if let fileSystem = facts?.fileSystem {
            members += [
                ("fileSystem", try fileSystem.name.quoted),
                ("isNetworkFileSystem", "\(fileSystem.isNetwork)"),
            ]
        }
        if let repair = facts?.lastRepair {
            let facts = [
                ("time", try UniversalTime(repair.time).text.quoted),
                ("report", try repair.report.quoted),
            ]
            members.append(("damage", try ShownJSON.object(facts)))
        }
        if let backups {
            members += [
                ("backups", "\(backups.count)"),
                (
                    "newestBackup",
                    try backups.first.map { try UniversalTime($0.date).text.quoted } ?? "null"
                ),
            ]
        }
        if let hosts {
            let objects = try hosts.map {
                try ShownJSON.object([("id", $0.id.quoted), ("name", $0.name.quoted)])
            }
            members.append(("hosts", "[\(objects.joined(separator: ","))]"))
        }
        if let quotas {
            let list = try QuotaList(quotas).json(longest: quotas.count)
            members.append(("quotas", "[\(list.joined(separator: ","))]"))
        }
        if let files { members.append(("layerFiles", try LayerFileList(files).json)) }
        return try ShownJSON.object(members)
    }

    private func rows(of hosts: [RemoteHost]) -> [[String]] {
        let others = hosts.dropFirst().map(\.words).joined(separator: ", ")
        return hosts.prefix(1).map { ["host", $0.words] }
            + (others.isEmpty ? [] : [["other hosts", others]])
    }

    private func summary(of backups: [RemoteBackup]) -> String {
        guard let newest = backups.first else { return "none" }
        return "\(backups.count), the newest of \(LocalTime(newest.date).text)"
    }
}

extension RemoteHost {
    fileprivate var words: String { name.isEmpty ? id : "\(name.onOneLine) (\(id))" }
}

extension RemoteDefaults.Route {
    fileprivate var words: String {
        switch self {
        case .bus: "over the bus"
        case .direct: "direct, without the bus"
        case .own: "to a daemon of this command"
        }
    }
}

extension ServiceFacts.FileSystem {
    fileprivate var words: String {
        isNetwork
            ? "\(name) (network: its server keeps the lock against other machines, and decides "
                + "when a write survives a power cut)" : name
    }
}

extension ServiceFacts.Repair {
    fileprivate var words: String { "\(LocalTime(time).text): \(report)" }
}
