import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Locked: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "locked",
        abstract: "Says whether a key is locked, or lists locked keys.",
        discussion: """
            Locked keys cannot be written. Each key with a managed value is locked. Without a key, \
            this lists the locked keys, and prefixes with a *, each with its file. The locks of \
            NSGlobalDomain, which apply to every domain, come last. Exit status with a key: 0 if \
            it is locked, 1 if it is not.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, all locks of the domain.")
    var key: String?

    @Flag(help: "Print JSON: an object for a key, otherwise an array.")
    var json = false

    func check() throws { try SearchedDomain.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        guard let key else { return try await list(of: defaults) }
        let isLocked = try await defaults.isLocked(key, in: domain)
        let file = isLocked ? try await defaults.lock(of: key, in: domain)?.source : nil
        if json {
            let file = try file?.quoted ?? "null"
            try SafeOutput.print(
                json: ShownJSON.object([("locked", "\(isLocked)"), ("file", file)]))
        } else {
            let name = "\(key.onOneLine) of \(domain.onOneLine)"
            let place = file.map { " by \($0.onOneLine)" } ?? ""
            try SafeOutput.print(
                isLocked ? "\(name) is locked\(place)" : "\(name) is not locked")
        }
        guard !isLocked else { return }
        try await remark(on: key, of: defaults)
        throw ExitCode(1)
    }

    /// Says that a key, or a domain, does not exist if another one was probably meant.
    private func remark(on key: String?, of defaults: RemoteDefaults) async throws {
        let keys = try await defaults.effectiveKeys(in: domain)
        let hasName = key.map(keys.contains) ?? !keys.isEmpty
        guard !hasName else { return }
        let near =
            if let key { await defaults.nameNear(key, in: domain, amongEffective: true) } else {
                await defaults.domainNear(domain)
            }
        if let near { Complaint.say(ToolError.nothingToLock(key, in: domain, meant: near)) }
    }

    private func list(of defaults: RemoteDefaults) async throws {
        let locks = try await defaults.locks(of: domain)
        if locks.isEmpty { try await remark(on: nil, of: defaults) }
        if json {
            let objects = try locks.map {
                try ShownJSON.object([("key", $0.pattern.quoted), ("file", $0.file.quoted)])
            }
            return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        }
        var columns = Columns(headings: ["key", "file"], areNumbers: [false, false])
        columns.rows = locks.map { [$0.pattern.onOneLine, $0.file.onOneLine] }
        for line in columns.lines { try SafeOutput.print(line) }
    }
}

extension Locked: ArrangedVerb {
    static func completedDomains(with options: Set<String>) -> CompletedDomains { .searched }
}
