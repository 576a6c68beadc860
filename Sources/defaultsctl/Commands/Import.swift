import ArgumentParser
import DefaultsClient
import DefaultsFiles

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes the keys of a property list over into a domain.",
        discussion: """
            The file is a property list in XML, binary or the old style, or JSON; - is standard input. \
            Keys that it does not name stay. All of it is one change where it has no more than 262144 \
            keys and 32 MiB.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Option(help: "What the file holds: xml, binary or json; otherwise seen by its beginning.")
    var format: DomainFormat?

    @Flag(help: "Remove the keys of the domain that the file does not name.")
    var replace = false

    @OptionGroup var host: HostOption

    func run() async throws {
        try await reportingFailure {
            // What cannot be read needs no service.
            let entries = try read()
            try await ServiceSession.run {
                try await $0.store(entries, in: domain, removingOthers: replace)
            }
        }
    }

    private func read() throws -> [DefaultsEntry] {
        let progress = ProgressBar("Reading \(file.onOneLine)")
        defer { progress.end() }
        return try DomainFile(file, format: format).entries(progress)
    }
}
