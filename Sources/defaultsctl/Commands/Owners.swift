import ArgumentParser
import DefaultsClient
import DefaultsTerms
import OwnedDocuments
import Wording

struct Owners: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "owners",
        abstract: "Lists the owners of documents, and how many keys each has.")

    @Flag(help: "Print a JSON object: owners with their keys, by domain.")
    var json = false

    func run(with defaults: RemoteDefaults) async throws {
        let owned = try await OwnedKeys(of: defaults)
        guard json else {
            var columns = Columns(areNumbers: [false, true])
            columns.rows = owned.byOwner.map { [$0.owner.name, "\($0.places.count)"] }
            guard !columns.rows.isEmpty else { return }
            return try SafeOutput.print(columns.lines.joined(separator: "\n"))
        }
        let members = try owned.byOwner.map { owner, places in
            let domains = Dictionary(grouping: places, by: \.domain).sorted { $0.key < $1.key }
            let lists = try domains.map { domain, places in
                let keys = try places.map { try $0.key.quoted }
                return (domain, "[\(keys.joined(separator: ","))]")
            }
            return (owner.name, try ShownJSON.object(lists))
        }
        try SafeOutput.print(json: ShownJSON.object(members))
    }
}
