import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc
import KeyedArchive
import ValuePaths

struct Read: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Prints a value, all values of a domain, or everything.",
        discussion: """
            Values are printed like with macOS's defaults: a scalar without quotes, a boolean as 1 \
            or 0, and arrays, dictionaries and objects in the old style of property lists, where \
            long data is shortened. With --json every value keeps its type. With --effective it \
            prints the values that apply to the application, from the layers that 'explain' shows.
            """)

    @Argument(help: "The domain, such as org.example.Game; without it, all domains.")
    var domain: String?

    @Argument(help: "The key; without it, all keys of the domain.")
    var key: String?

    @OptionGroup var part: PathOption

    @Flag(help: "Print JSON, in which every value keeps its type.")
    var json = false

    @OptionGroup var dates: DatesOption

    @Flag(help: "Print a scalar as it is: a string without quotes or escapes, data as bytes.")
    var raw = false

    @Flag(help: "Print the generation of the key's last change, or 0 for a missing key.")
    var generation = false

    @OptionGroup var search: EffectiveOption

    @OptionGroup var host: HostOption

    func validate() throws {
        if search.effective, domain == nil {
            throw ValidationError("--effective is for one domain. Give the domain.")
        }
        if search.effective, generation {
            throw ValidationError("--generation is for one layer. Omit --effective.")
        }
        if part.path != nil, key == nil {
            throw ValidationError("--path selects a part of a key's value. Give the key.")
        }
        if raw || generation, key == nil {
            throw ValidationError("--raw and --generation are for one key. Give the key.")
        }
        guard [json, raw, generation].count(where: \.self) <= 1 else {
            throw ValidationError("Give one of --json, --raw and --generation.")
        }
        try dates.validate(isJSON: json)
    }

    func check() throws { try search.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        guard let domain else { return try await printAll(of: defaults) }
        guard let key else { return try await print(domain, of: defaults) }
        if generation {
            let generation = try await defaults.archiveIfThere(forKey: key, in: domain).generation
            return try SafeOutput.print("\(generation)")
        }
        var archive = try await search.archive(forKey: key, in: domain, of: defaults)
        if part.path != nil || raw { archive = try archive.shown() }
        if let path = part.path { archive = try archive.value(at: path) }
        if raw {
            try printRaw(archive, key: key)
        } else if json {
            let entry = DefaultsEntry(key: key, archive: archive)
            try SafeOutput.print(json: entry.jsonText(hasISODates: dates.isoDates))
        } else {
            try SafeOutput.print(Listing.text(of: archive, key: key))
        }
    }

    private func printRaw(_ archive: KeyedArchive, key: String) throws {
        do {
            switch try RawValue.content(of: archive) {
            case .text(let text): try SafeOutput.print(text)
            case .data where Defaultsctl.console.isTerminal(.output): throw ToolError.dataOnTerminal
            case .data(let bytes):
                try StandardOutput.write(bytes)
                try StandardOutput.flush()
            }
        } catch is RefusedValue {
            throw ToolError.noScalar(key, type: try ValueTypeName.name(of: archive))
        }
    }

    private func print(_ domain: String, of defaults: RemoteDefaults) async throws {
        let entries = try await search.entries(in: domain, of: defaults)
        guard !entries.isEmpty else { throw await defaults.noDomain(domain) }
        if json {
            try printJSON { try $0.object(of: entries) }
        } else {
            var listing = Listing()
            try listing.add(entries)
            try finish(listing)
        }
    }

    private func printAll(of defaults: RemoteDefaults) async throws {
        var domains: [(name: String, entries: [DefaultsEntry])] = []
        for (name, layer) in try await host.domains(of: defaults) {
            let entries = try await defaults.entries(in: layer).entries
            // A domain without entries was removed after the domains were listed.
            if !entries.isEmpty { domains.append((json ? name : name.domainTitle, entries)) }
        }
        domains.sort { $0.name < $1.name }
        if json {
            try printJSON { try $0.object(of: domains) }
        } else {
            var listing = Listing()
            try listing.add(domains)
            try finish(listing)
        }
    }

    /// Prints what can be shown.
    ///
    /// If something cannot be shown, it then fails with the first such error.
    private func finish(_ listing: Listing) throws {
        try SafeOutput.print(listing.text)
        if let failure = listing.failure { throw failure }
    }

    private func printJSON(_ object: (inout JSONListing) throws -> String) throws {
        var listing = JSONListing(hasISODates: dates.isoDates)
        try SafeOutput.print(json: object(&listing))
        if let failure = listing.failure { throw failure }
    }
}

extension Read: ArrangedVerb {
    static var takesHostAlone: Bool { true }
    static var optionsWithValue: Set<String> { ["--path"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains {
        options.contains("--effective") ? .searched : .read
    }
}
