import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc
import Wording

/// `defaultsctl factory-reset`: resets everything, as if the user had never set anything.
struct FactoryReset: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "factory-reset",
        abstract: "Removes everything that the user has set, in all domains.",
        discussion: """
            It removes all domains with their layers for this and other hosts. The values of \
            administrators and vendors stay, and apply from then on. Locked keys are left \
            unchanged. A backup is made first, and the command that undoes the reset is printed. \
            When the command returns, everything is on disk. On a terminal it asks first; scripts \
            must give --yes. With --dry-run it only says how many keys of each domain it would remove.
            """)

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Change nothing, and print what would be removed.")
    var dryRun = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @Flag(help: "Print 'changed' or 'unchanged'.")
    var changed = false

    @Flag(help: "Accepted for consistency: a reset always waits for the disk.")
    var wait = false

    func validate() throws {
        if json, changed {
            throw ValidationError("--json includes what --changed prints. Give one of them.")
        }
        if dryRun, changed {
            throw ValidationError(
                "--dry-run changes nothing, so --changed has no meaning. Give one of them.")
        }
    }

    func check() throws {
        guard yes || dryRun || Confirmation.canBeAsked else { throw ToolError.notAsked }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let domains = try await defaults.domains()
        guard !domains.isEmpty else {
            return try tell(
                "nothing is set", removed: 0,
                [("removed", "0"), ("locked", "0"), ("undo", "null")])
        }
        if dryRun { return try await tellPlan(for: domains, of: defaults) }
        let question =
            "This removes everything that you have set in \(counted(domains.count, "domain"))."
        guard yes || Confirmation.isGiven(question) else { throw ToolError.notConfirmed }
        let undo = try await defaults.backUp()
        var (removed, locked, changed) = (0, 0, 0)
        do {
            for domain in domains {
                let (keys, kept) = try await Self.keys(of: domain, defaults)
                locked += kept.count
                guard kept.count < keys.count else { continue }
                try await defaults.removeKeys(of: domain, except: kept)
                removed += keys.count - kept.count
                changed += 1
            }
            try await defaults.synchronize()
        } catch {
            throw ToolError.resetIncomplete(removed, undo: undo, because: error)
        }
        let remark =
            locked == 0
            ? "" : "\n\(counted(locked, "key")) locked by the administrator, left unchanged"
        try tell(
            "\(counted(removed, "key")) removed from \(counted(changed, "domain"))\(remark)\n"
                + "to undo: defaultsctl backup restore \(undo)",
            removed: removed,
            [("removed", "\(removed)"), ("locked", "\(locked)"), ("undo", try undo.quoted)])
    }

    /// The keys of a domain, and those that are locked.
    private static func keys(
        of domain: String, _ defaults: RemoteDefaults
    ) async throws -> (all: [String], locked: Set<String>) {
        let keys = try await defaults.keys(in: domain)
        return (keys, Set(try await defaults.lockedKeys(of: keys, in: domain).map(\.key)))
    }

    private func tellPlan(for domains: [String], of defaults: RemoteDefaults) async throws {
        var (lines, objects): ([String], [String]) = ([], [])
        var (removed, locked) = (0, 0)
        for domain in domains {
            let (keys, kept) = try await Self.keys(of: domain, defaults)
            let count = keys.count - kept.count
            (removed, locked) = (removed + count, locked + kept.count)
            let rest = kept.isEmpty ? "" : ", \(kept.count) locked"
            lines.append("  \(domain.onOneLine): \(counted(count, "key"))\(rest)")
            objects.append(
                try ShownJSON.object([
                    ("domain", domain.quoted), ("removed", "\(count)"), ("locked", "\(kept.count)"),
                ]))
        }
        let total = "\(counted(removed, "key")) would be removed"
        try tell(
            ([total] + lines).joined(separator: "\n"), removed: removed,
            [
                ("removed", "\(removed)"), ("locked", "\(locked)"), ("undo", "null"),
                ("domains", "[\(objects.joined(separator: ","))]"),
            ])
    }

    private func tell(_ text: String, removed: Int, _ members: [(String, String)]) throws {
        if changed { return try SafeOutput.print(removed > 0 ? "changed" : "unchanged") }
        if json { return try SafeOutput.print(json: ShownJSON.object(members)) }
        try SafeOutput.print(text)
    }
}
