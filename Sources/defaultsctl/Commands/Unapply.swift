import ArgumentParser
import DefaultsClient
import OwnedDocuments

struct Unapply: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "unapply",
        abstract: "Takes back all that an owner's document has set.",
        discussion: """
            Each key gets back what it had before the owner, unless somebody has changed it since. \
            Then it stays as it is, and is named.
            """)

    @Argument(help: "The owner; 'defaultsctl owners' lists them.")
    var owner: Owner

    @OptionGroup var options: DocumentOptions

    @OptionGroup var change: ChangeOptions

    func validate() throws { try options.validate(with: change) }

    func run(with defaults: RemoteDefaults) async throws {
        let owners = try await OwnedKeys(of: defaults).byOwner.map(\.owner)
        if !owners.contains(owner) {
            let error = ToolError.noOwner(owner, among: owners.map(\.name))
            // It may be run again, which is not an error. A mistyped name is one.
            guard Spelling.nearest(to: owner.name, among: owners.map(\.name)) == nil else {
                throw error
            }
            Complaint.say(error)
        }
        let application = DocumentApplication(
            document: OwnedDocument(of: owner), options: options, ownership: nil)
        try await application.runReporting(on: defaults, change)
    }
}
