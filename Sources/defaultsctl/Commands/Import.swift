import ArgumentParser
import DefaultsClient
import DomainForms

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports the keys of a property list into a domain.",
        discussion: """
            The file is a property list in XML, binary or the old style, or JSON; - is standard \
            input. Keys that are not in the file stay. The import is one change, unless it has \
            more than 32 MiB or 262144 keys. With --key the whole file is the value of one key. A \
            keyed archive is imported like this, and stored unchanged.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Option(help: "The format of the file: xml, binary or json; by default it is detected.")
    var format: DomainFormat?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Import the file as the value of this key.", valueName: "key"))
    var key: String?

    @Flag(help: "Remove the keys of the domain that the file does not have.")
    var replace = false

    @OptionGroup var change: ChangeOptions

    @OptionGroup var lock: LockOption

    @OptionGroup var host: HostOption

    func validate() throws {
        if replace, key != nil {
            throw ValidationError(
                "--key is about one key, and --replace about all. Give one of them.")
        }
    }

    func run() async throws {
        try await reportingFailure {
            // Invalid input is reported without the service.
            let entries = try read()
            try await ServiceSession.run { try await store(entries, on: $0) }
        }
    }

    private func store(_ entries: [DefaultsEntry], on defaults: RemoteDefaults) async throws {
        let others = replace && lock.skipLocked ? try await defaults.keys(in: domain) : []
        let skipped = try await lock.skipped(
            of: Set(entries.map(\.key) + others).sorted(), in: domain, of: defaults)
        let isChanged = try await defaults.store(
            entries, in: domain, removingOthers: replace, keeping: skipped,
            comparing: change.changed)
        UnknownKeys.remark(
            on: entries.map(\.key).filter { !skipped.contains($0) }, in: domain)
        try await change.finish(isChanged, on: defaults)
    }

    private func read() throws -> [DefaultsEntry] {
        let progress = ProgressBar("Reading \(file.onOneLine)")
        defer { progress.end() }
        let document = try DomainFile(file, format: format)
        if let key { return [DefaultsEntry(key: key, archive: try document.value())] }
        return try document.entries(progress)
    }
}

extension Import: ArrangedVerb {
    static var makesDomains: Bool { true }
    static var optionsWithValue: Set<String> { ["--format", "--key"] }
}
