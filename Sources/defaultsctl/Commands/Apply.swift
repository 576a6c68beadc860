import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes many changes at once, those of a domain all or none.",
        discussion: """
            Changes are read one a line, as JSON objects or as the commands that make them, \
            quoted as in a shell. All lines are read before the first change is made. Where a domain's \
            changes are refused, none of them is made, and no change of a domain after it.

              {"domain":"org.example.Game","key":"PlaySound","value":true}
              {"domain":"org.example.Game","key":"Volume","remove":true,"ifGeneration":42}
              write org.example.Game Level -int 3
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to read; - is standard input.", valueName: "file"))
    var file = "-"

    @Flag(help: "Wait until the changes are on disk.")
    var wait = false

    /// The most bytes of changes that are read, all of which are in memory at once.
    private static let mostBytes = 256 << 20

    func run() async throws {
        try await reportingFailure {
            // What cannot be read needs no service.
            let document = try read()
            try await ServiceSession.run { try await apply(document, to: $0) }
        }
    }

    private func apply(_ document: ChangeDocument, to defaults: RemoteDefaults) async throws {
        // What is refused is refused before the first change.
        for edits in document.domains {
            do {
                try await edits.check(with: defaults)
            } catch let error as DefaultsError {
                throw document.failure(of: edits, error)
            } catch let error where error is ToolError || error is LockedKey {
                throw document.failure(of: edits, error)
            }
        }
        for var edits in document.domains {
            edits.isDurable = wait
            try await edits.apply(to: defaults)
        }
    }

    private func read() throws -> ChangeDocument {
        let name = file == "-" ? "standard input" : file
        do {
            let bytes = try InputFile.contents(of: file, limit: Self.mostBytes)
            guard String(validating: bytes, as: UTF8.self) != nil else {
                throw ToolError.input(name, "It is no text in UTF-8.")
            }
            return try ChangeDocument(bytes, name: name)
        } catch let failure as InputFile.Failure {
            throw ToolError.input(name, failure.message)
        }
    }
}
