import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import OwnedDocuments

struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract:
            "Makes many changes at once, all or none, or makes defaults what a document says.",
        discussion: """
            Reads one change from each line: a JSON object, or the command that makes the change, \
            quoted as in a shell. All lines are read and checked with the service first. Then they \
            are made as one change, of at most 60 MiB: all of them, or none.

              {"domain":"org.example.Game","key":"PlaySound","value":true}
              {"domain":"org.example.Game","key":"Volume","remove":true,"ifGeneration":42}
              write org.example.Game Level -int 3

            A file that is one JSON object, property list or YAML mapping with "$defaults" is a document: all that \
            its owner wants. What differs is set, and what has left the document since the last time \
            gets back what it had before, unless somebody has changed it. 'unapply' takes all of it \
            back, and 'drift' says what no longer holds. A directory has such documents, or files \
            DOMAIN.json, DOMAIN.plist and DOMAIN.yaml.

              {"$defaults":1,"owner":"me","domains":{"org.example.Game":{"PlaySound":true}}}
            """)

    @Argument(help: ArgumentHelp("The file or directory; - is standard input.", valueName: "file"))
    var path: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The same file, given as an option.", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("The owner of files that do not name one.", valueName: "name"))
    var owner: Owner?

    @Option(help: ArgumentHelp("The domain of a file that is one domain.", valueName: "domain"))
    var domain: String?

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case yaml
    }

    @Option(
        help: """
            The form of the file: yaml. Files that end in .yaml or .yml, and documents with $defaults, do not \
            need it.
            """)
    var format: Format?

    @OptionGroup var options: DocumentOptions

    @OptionGroup var ownership: OwnershipOptions

    @OptionGroup var change: ChangeOptions

    func validate() throws {
        guard path == nil || file == nil else {
            throw ValidationError("Give the file as a word or with --file, not both.")
        }
        try options.validate(with: change)
    }

    func run() async throws {
        try await reportingFailure {
            // Invalid input is reported without the service.
            let input = try DocumentInput.read(
                path ?? file ?? "-", domain: domain, owner: owner, isYAML: format == .yaml)
            switch input {
            case .lines(let lines):
                if let option = options.firstGiven ?? ownership.firstGiven {
                    throw ToolError.optionOfDocuments(option)
                }
                try await ServiceSession.run { try await apply(lines, to: $0) }
            case .document(let document):
                guard !document.isEmpty else { throw ToolError.emptyDocument(document.owner) }
                try await ServiceSession.run {
                    let application = DocumentApplication(
                        document: document, options: options, ownership: ownership)
                    try await application.runReporting(on: $0, change)
                }
            }
        }
    }

    private func apply(_ document: ChangeDocument, to defaults: RemoteDefaults) async throws {
        if document.domains.isEmpty {
            // What was to write the input may have failed.
            Complaint.say("The input has no changes.")
        }
        // All checks come before the first change.
        for edits in document.domains {
            do {
                try await edits.check(with: defaults)
            } catch {
                throw document.failure(of: edits, error)
            }
        }
        do {
            let isChanged = try await document.domains.apply(
                to: defaults, isDurable: change.wait, comparing: change.changed)
            for edits in document.domains {
                UnknownKeys.remark(on: edits.keysWithValues, in: edits.domain)
            }
            try await change.report(isChanged, on: defaults)
        } catch {
            throw document.failure(error)
        }
    }
}
