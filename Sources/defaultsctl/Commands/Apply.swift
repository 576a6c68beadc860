import ArgumentParser
import DefaultsClient
import DefaultsProtocol

struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Makes many changes at once, all or none.",
        discussion: """
            Reads one change from each line: a JSON object, or the command that makes the change, \
            quoted as in a shell. All lines are read and checked with the service before the first \
            change is made. The changes of one domain are one change. If a later domain fails \
            nevertheless, the earlier changes are undone, and the error says so. If apply itself \
            is killed half-way, the changes of some domains may have been made.

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
        // To undo or to report changes, the values must be compared.
        let isCompared = change.changed || document.domains.count > 1
        var made: [MadeEdits] = []
        for edits in document.domains {
            do {
                made.append(try await edits.apply(to: defaults, comparing: isCompared))
            } catch {
                throw document.failure(of: edits, error, await undo(made, on: defaults))
            }
        }
        // This comes last: if the disk refuses, the changes are still made.
        if change.wait { try await defaults.synchronize() }
        try change.tell(made.contains(where: \.isChanged))
    }

    /// Undoes the changes that were made, the last one first.
    ///
    /// - Returns: What happened, in sentences; nil if no change was made.
    private func undo(_ made: [MadeEdits], on defaults: RemoteDefaults) async -> String? {
        var (undone, kept): ([String], [String]) = ([], [])
        for edits in made.filter(\.isChanged).reversed() {
            let name = "\(edits.domain.onOneLine) (line \(edits.line))"
            do {
                try await edits.undo(on: defaults)
                undone.append(name)
            } catch {
                let reason = ToolError(error).fact
                kept.append("The changes in \(name) could not be undone: \(reason)")
            }
        }
        let sentence = undone.reversed().joined(separator: ", ")
        let sentences =
            (undone.isEmpty ? [] : ["The changes in \(sentence) were undone."]) + kept
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
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
