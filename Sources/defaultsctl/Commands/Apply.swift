import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Makes many changes at once, all or none.",
        discussion: """
            Reads one change from each line: a JSON object, or the command that makes the change, \
            quoted as in a shell. All lines are read and checked with the service first. Then they \
            are made as one change, of at most 60 MiB: all of them, or none.

              {"domain":"org.example.Game","key":"PlaySound","value":true}
              {"domain":"org.example.Game","key":"Volume","remove":true,"ifGeneration":42}
              write org.example.Game Level -int 3
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to read; - is standard input.", valueName: "file"))
    var file = "-"

    @OptionGroup var change: ChangeOptions

    /// The most bytes of changes that are read.
    ///
    /// All of them are in memory at the same time.
    private static let mostBytes = 256 << 20

    func run() async throws {
        try await reportingFailure {
            // Invalid input is reported without the service.
            let document = try read()
            try await ServiceSession.run { try await apply(document, to: $0) }
        }
    }

    private func apply(_ document: ChangeDocument, to defaults: RemoteDefaults) async throws {
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

    private func read() throws -> ChangeDocument {
        let name = file == "-" ? "standard input" : file
        do {
            let bytes = try InputFile.contents(of: file, limit: Self.mostBytes)
            guard String(validating: bytes, as: UTF8.self) != nil else {
                throw ToolError.input(name, "It is not UTF-8 text.")
            }
            return try ChangeDocument(bytes, name: name)
        } catch let failure as InputFile.Failure {
            throw ToolError.input(name, failure.message)
        }
    }
}
