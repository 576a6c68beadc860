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
            must give --yes.
            """)

    @Flag(help: "Do not ask.")
    var yes = false

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
    }

    func check() throws {
        guard yes || Confirmation.canBeAsked else { throw ToolError.notAsked }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let domains = try await defaults.domains()
        guard !domains.isEmpty else {
            return try tell(
                "nothing is set", removed: 0,
                [("removed", "0"), ("locked", "0"), ("undo", "null")])
        }
        let question =
            "This removes everything that you have set in \(counted(domains.count, "domain"))."
        guard yes || Confirmation.isGiven(question) else { throw ToolError.notConfirmed }
        let undo = try await defaults.backUp()
        var (removed, locked, changed) = (0, 0, 0)
        do {
            for domain in domains {
                let keys = try await defaults.keys(in: domain)
                let kept = Set(try await defaults.lockedKeys(of: keys, in: domain).map(\.key))
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

    private func tell(_ text: String, removed: Int, _ members: [(String, String)]) throws {
        if changed { return try SafeOutput.print(removed > 0 ? "changed" : "unchanged") }
        if json { return try SafeOutput.print(json: ShownJSON.object(members)) }
        try SafeOutput.print(text)
    }
}
