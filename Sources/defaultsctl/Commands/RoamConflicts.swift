import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import RoamingTerms

struct RoamConflicts: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Lists values that lost to another machine's change.",
        discussion: """
            The first line shows the ID of a conflict, the domain and the key, the machine that wrote \
            the value, and when. The next lines show the value that lost and the current one. \
            Conflicts are values of org.defaultsd.RoamConflicts, and roam, too: what is dismissed \
            here is gone on all machines.
            """)

    @Option(
        help: ArgumentHelp("Give the key the value that lost.", valueName: "ID"))
    var restore: String?

    @Option(
        help: ArgumentHelp("Discard a conflict; 'all' discards every one.", valueName: "ID"))
    var dismiss: String?

    @Flag(help: "Print a JSON array.")
    var json = false

    func run(with defaults: RemoteDefaults) async throws {
        if dismiss == "all" { return try await defaults.dismissAllConflicts() }
        let conflicts = try await defaults.roamConflicts()
        if let restore { return try await defaults.restore(Self.find(restore, in: conflicts)) }
        if let dismiss { return try await defaults.dismiss(Self.find(dismiss, in: conflicts)) }
        if json {
            let objects = try conflicts.map(Self.object)
            return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        }
        for conflict in conflicts {
            for line in try Self.lines(of: conflict) { try SafeOutput.print(line) }
        }
    }

    private static func find(
        _ name: String, in conflicts: [RoamConflict]
    ) throws(ToolError) -> RoamConflict {
        let found = conflicts.filter { $0.name == name || $0.loser.valueKey == name }
        guard let conflict = found.first else { throw .noConflict(name) }
        guard found.count == 1 else { throw .ambiguousConflict(name) }
        return conflict
    }

    private static func lines(of conflict: RoamConflict) throws -> [String] {
        let loser = conflict.loser
        var head = "\(loser.name.onOneLine)  \(loser.domain) \(loser.key.onOneLine)"
        if let facts = conflict.facts {
            head += "  \(facts.machine.onOneLine)"
            if let written = facts.written {
                head += "  \(LocalTime(seconds(written)).text)"
            }
        }
        return [
            head, "    lost    \(try shown(conflict.lost))",
            "    stands  \(try shown(conflict.current))",
        ]
    }

    /// A time that another machine has written, so that it may be any number.
    static func seconds(_ time: Double) -> UInt64 {
        // The largest number of a calendar is far below; not a number is no time at all.
        time > 0 ? UInt64(exactly: min(time, 1e15).rounded(.down)) ?? 0 : 0
    }

    private static func shown(_ archive: KeyedArchive?) throws -> String {
        guard let archive else { return "(removed)" }
        return String(decoding: try archive.json(), as: UTF8.self).onOneLine
    }

    private static func object(_ conflict: RoamConflict) throws -> String {
        func value(_ archive: KeyedArchive?) throws -> String {
            try archive.map { String(decoding: try $0.json(), as: UTF8.self) } ?? "null"
        }
        return try ShownJSON.object([
            ("name", conflict.name.quoted), ("domain", conflict.loser.domain.quoted),
            ("key", conflict.loser.key.quoted),
            ("machine", conflict.facts.map { try $0.machine.quoted } ?? "null"),
            (
                "written",
                conflict.facts?.written.map {
                    try UniversalTime(seconds($0)).text.quoted
                } ?? "null"
            ),
            ("lost", value(conflict.lost)), ("stands", value(conflict.current)),
        ])
    }
}
