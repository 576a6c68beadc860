import ArgumentParser
import DefaultsClient
import DefaultsTerms
import KeyedArchive
import OwnedDocuments

struct Drift: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Lists the keys that no longer have what a document has set.",
        discussion: """
            It prints names without values. Exit status: 0 if all holds, 2 if something does not. \
            'defaultsctl apply' of the document sets it again.
            """)

    @Argument(help: "The owner; without it, all owners.")
    var owner: Owner?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    /// What is not as it was set.
    private static let exitCode = ExitCode(2)

    private typealias Line = (owner: Owner, place: KeyPlace, drift: AppliedRow.Drift)

    private func drift(of owner: Owner, _ defaults: RemoteDefaults) async throws -> [Line] {
        var state = try await OwnedState(for: OwnedDocument(of: owner), from: defaults)
        let names = state.own.sorted().map { (place: $0, name: RowName(owner, $0)) }
        try await state.readRows(names.map(\.name), from: defaults)
        return try names.compactMap { place, name in
            guard let row = state.rows[name] else { return (owner, place, .unknown) }
            let live = state.live[place]
            return row.drift(from: live, shown: try live?.shown()).map { (owner, place, $0) }
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        let owned = try await OwnedKeys(of: defaults).byOwner
        if let owner, !owned.contains(where: { $0.owner == owner }) {
            throw ToolError.noOwner(owner, among: owned.map(\.owner.name))
        }
        var lines: [Line] = []
        for (owner, _) in owned where self.owner.map({ $0 == owner }) ?? true {
            lines += try await defaults.retrying { try await drift(of: owner, defaults) }
        }
        if json {
            let objects = try lines.map {
                try ShownJSON.object([
                    ("owner", $0.owner.name.quoted), ("domain", $0.place.domain.quoted),
                    ("key", $0.place.key.quoted), ("state", $0.drift.rawValue.quoted),
                ])
            }
            try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
        } else if !lines.isEmpty {
            var columns = Columns(areNumbers: [false, false, false, false])
            columns.rows = lines.map {
                [
                    $0.owner.name, $0.place.domain.onOneLine, $0.place.key.onOneLine,
                    $0.drift.rawValue,
                ]
            }
            try SafeOutput.print(columns.lines.joined(separator: "\n"))
        }
        if !lines.isEmpty { throw Self.exitCode }
    }
}
