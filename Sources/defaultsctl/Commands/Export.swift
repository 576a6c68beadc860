import ArgumentParser
import DefaultsClient
import DomainForms
@preconcurrency import Glibc
import XMLPropertyList

struct Export: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a domain to a property list.",
        usage: """
            defaultsctl export [--format <form>] [--iso-dates] <domain> <file>
            defaultsctl export --all --directory <directory>
            """,
        discussion: """
            A file is written in binary, FILE.json in JSON, FILE.xml and standard output (-) in XML, \
            unless --format says otherwise. A domain without keys is an empty dictionary. An object is written as the property list of \
            its keyed archive, and import converts it back to the object. The file is replaced as \
            a whole.

            With --all, each domain becomes a file of the directory, named after it; values for this \
            machine alone become DOMAIN@MACHINE. The same values make the same files, and \
            'defaultsctl apply DIRECTORY --owner NAME' reads them.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String?

    @Argument(help: "The file, or - for standard output.")
    var file: String?

    @Flag(help: "All domains, each as a file of the directory.")
    var all = false

    @Option(
        help: ArgumentHelp("The directory, which is made if it does not exist.", valueName: "path"))
    var directory: String?

    @Option(help: "The form: xml, binary or json.")
    var format: DomainFormat?

    @OptionGroup var dates: DatesOption

    @OptionGroup var host: HostOption

    /// The form that the name of a file asks for.
    ///
    /// On macOS every file is binary.
    static func form(of file: String, as name: ProgramName = .current) -> DomainFormat {
        if file == "-" { return .xml }
        let ending = file.split(separator: "/").last?.split(separator: ".").dropFirst().last
        return switch (name, ending?.lowercased()) {
        case (.defaultsctl, "json"): .json
        case (.defaultsctl, "xml"): .xml
        default: .binary
        }
    }

    func validate() throws {
        guard !all, directory == nil else {
            guard all, directory != nil else {
                throw ValidationError("--all and --directory are given together.")
            }
            guard domain == nil, format == nil, !host.isGiven else {
                throw ValidationError(
                    "--all takes a directory and --iso-dates, and no other words.")
            }
            return
        }
        guard domain != nil else { throw ValidationError("Missing expected argument '<domain>'") }
        guard let file else { throw ValidationError("Missing expected argument '<file>'") }
        let form = format ?? Self.form(of: file)
        if file == "-", form == .binary, Defaultsctl.console.isTerminal(.output) {
            throw ValidationError("A terminal cannot show a binary property list. Give a file.")
        }
        try dates.validate(isJSON: form == .json, by: "--format json")
    }

    func run(with defaults: RemoteDefaults) async throws {
        if let directory {
            return try await ExportedDirectory(
                at: directory, hasISODates: dates.isoDates
            ).write(defaults)
        }
        guard let domain, let file else { return }
        try await export(domain, to: file, from: defaults)
    }

    private func export(
        _ domain: String, to file: String, from defaults: RemoteDefaults
    ) async throws {
        let form = format ?? Self.form(of: file)
        let entries = try await defaults.entries(in: domain).entries
        // On macOS this is an empty dictionary: scripts export a domain before they set its first key.
        if entries.isEmpty, ProgramName.current == .defaultsctl {
            let meant = await defaults.domainNear(domain)
            Complaint.say(ToolError.nothingToExport(domain, meant: meant))
        }
        let name = file == "-" ? "standard output" : file
        do {
            let progress = ProgressBar("Exporting \(domain.onOneLine)")
            defer { progress.end() }
            var exported = ExportedDomain(entries, hasISODates: dates.isoDates, progress)
            let bytes = try exported.bytes(as: form)
            if file == "-" {
                switch form {
                case .json: try SafeOutput.write(json: bytes)
                case .xml, .binary: try SafeOutput.write(bytes)
                }
            } else {
                try OutputFile.write(bytes, to: file)
            }
            progress.end()
            for remark in exported.remarks {
                Defaultsctl.console.complain("defaultsctl: \(remark)\n")
            }
            if let key = exported.missingKeys.first {
                throw ToolError.keysNotExported(key, count: exported.missingKeys.count)
            }
        } catch let error as XMLWritingError {
            throw ToolError.cannotExport(
                domain, name, because: "\(error.message) Use --format binary or json.")
        } catch let error as OutputFile.Failure {
            throw ToolError.cannotExport(domain, name, because: error.message)
        }
    }
}

extension Export: ArrangedVerb {
    static var optionsWithValue: Set<String> { ["--format", "--directory"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .read }
}
