import ArgumentParser
import DefaultsClient
import KeyedArchive
import ValuePaths

struct ReadType: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-type", abstract: "Prints the type of a value.",
        discussion: """
            Prints string, data, integer, float, boolean, date, array or dictionary, like macOS's \
            defaults, or object for anything else. If the value has an exact type of GVariant, \
            such as u, the line also says that.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @OptionGroup var part: PathOption

    @Flag(help: "Print only the type, as a JSON string.")
    var json = false

    @OptionGroup var search: EffectiveOption

    @OptionGroup var host: HostOption

    func check() throws { try search.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        var archive = try await search.archive(forKey: key, in: domain, of: defaults)
        // Scripts compare the line of macOS, which has only the type.
        let isExact = part.path == nil && ProgramName.current == .defaultsctl
        let exact = isExact ? try archive.exactType() : nil
        archive = try archive.shown()
        if let path = part.path { archive = try archive.value(at: path) }
        let name = try ValueTypeName.name(of: archive)
        let addition = exact.map { " (GVariant type \($0))" } ?? ""
        try SafeOutput.print(json ? name.quoted : "Type is \(name)\(addition)")
    }
}

extension ReadType: ArrangedVerb {
    static var optionsWithValue: Set<String> { ["--path"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains {
        options.contains("--effective") ? .searched : .read
    }
}
