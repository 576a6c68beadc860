import ArgumentParser
import DefaultsClient
import DomainForms
@preconcurrency import Glibc
import XMLPropertyList

struct Export: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes a domain to a property list.",
        discussion: """
            To a file it is binary, to standard output, which is -, XML, as from macOS's defaults; or \
            what --format says. An object is in a property list the one that its keyed archive is, \
            and import makes the object of it again. The file is replaced whole.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The file, or - for standard output.")
    var file: String

    @Option(help: "The form: xml, binary or json.")
    var format: DomainFormat?

    @OptionGroup var dates: DatesOption

    @OptionGroup var host: HostOption

    private var form: DomainFormat { format ?? (file == "-" ? .xml : .binary) }

    func validate() throws {
        if file == "-", form == .binary, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("A terminal shows no binary property list; name a file.")
        }
        try dates.validate(isJSON: form == .json, by: "--format json")
    }

    func run(with defaults: RemoteDefaults) async throws {
        let entries = try await defaults.entries(in: domain).entries
        guard !entries.isEmpty else { throw ToolError.noDomainToExport(domain) }
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
            for remark in exported.remarks { fputs("defaultsctl: \(remark)\n", stderr) }
            if let key = exported.missingKeys.first {
                throw ToolError.keysNotExported(key, count: exported.missingKeys.count)
            }
        } catch let error as XMLWritingError {
            throw ToolError.cannotExport(
                domain, name, because: "\(error.message) --format binary and json can.")
        } catch let error as OutputFile.Failure {
            throw ToolError.cannotExport(domain, name, because: error.message)
        }
    }
}

extension Export: MacVerb {
    static var optionsWithValue: Set<String> { ["--format"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .read }
}
