import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import ValuePaths

/// The host that a verb is for.
///
/// The spelling of macOS comes before the verb.
///
/// A verb with a domain declares this only for its help and for completion: ``CommandWords`` has
/// already put the host into the domain.
struct HostOption: ParsableArguments {
    @Flag(help: "Only for this host, like -currentHost before the verb.")
    var currentHost = false

    @Option(
        help: ArgumentHelp("Only for another host, like -host before the verb.", valueName: "name"))
    var host: String?

    /// Whether a host was given without a domain.
    var isGiven: Bool { currentHost || host != nil }

    /// The domains that have keys for the host, or for all machines if no host was given: each
    /// without its suffix, and as calls spell it.
    func domains(
        of defaults: RemoteDefaults
    ) async throws -> [(name: String, layer: String)] {
        let suffixes = try await suffixes(of: defaults)
        return try await defaults.domainsOfValues().compactMap { layer in
            let name = layer.prefix { $0 != "@" }
            let suffix = layer.dropFirst(name.count)
            return suffixes.contains(String(suffix)) ? (String(name), layer) : nil
        }
    }

    /// The possible spellings of the layer's suffix.
    ///
    /// The service spells a host by its name, or by its ID if the name is not unique, whichever of
    /// them the user has typed.
    private func suffixes(of defaults: RemoteDefaults) async throws -> [String] {
        guard let host else { return [currentHost ? LayerName.host.suffix : ""] }
        // An older daemon does not list hosts, and no daemon does so for a sandbox.
        let hosts = (try? await defaults.hosts()) ?? []
        let machines = hosts.named(host)
        if machines.count > 1 {
            // The service has an error message for this.
            let suffix = LayerName.suffix(ofHost: host)
            _ = try await defaults.keys(in: GlobalDomain.name + suffix)
        }
        guard let machine = machines.first else { return [LayerName.suffix(ofHost: host)] }
        return machine == hosts.first
            ? [LayerName.host.suffix] : [machine.name, machine.id].map(LayerName.suffix(ofHost:))
    }
}

extension RemoteDefaults {
    /// The domains that have values of the user's: all but what documents own.
    func domainsOfValues() async throws -> [String] {
        try await domains().filter { $0 != AppliedTerms.domain }
    }
}

/// Whether a verb is about the values that apply to an application, instead of one layer.
struct EffectiveOption: ParsableArguments {
    @Flag(help: "Use the values that apply to the application, from all layers.")
    var effective = false

    /// Refuses a domain with a layer, because all layers are searched.
    func check(_ domain: String?) throws(ToolError) {
        if effective { try SearchedDomain.check(domain) }
    }

    /// The value of a key.
    ///
    /// - Throws: `ToolError` with a suggestion if there is no such key.
    func archive(
        forKey key: String, in domain: String, of defaults: RemoteDefaults
    ) async throws -> KeyedArchive {
        do {
            return effective
                ? try await defaults.lookUp(key, in: domain).archive
                : try await defaults.archive(forKey: key, in: domain).archive
        } catch let error as DefaultsError where error.code == .notFound {
            if !effective, let layer = await defaults.otherLayer(of: domain, having: key) {
                throw ToolError.noPair(domain, key, onlyIn: layer)
            }
            throw await defaults.noPair(domain, key, amongEffective: effective)
        }
    }

    /// All keys with their values.
    func entries(in domain: String, of defaults: RemoteDefaults) async throws -> [DefaultsEntry] {
        effective
            ? try await defaults.effectiveEntries(in: domain)
            : try await defaults.entries(in: domain).entries
    }

    /// All keys.
    func keys(in domain: String, of defaults: RemoteDefaults) async throws -> [String] {
        effective
            ? try await defaults.effectiveKeys(in: domain) : try await defaults.keys(in: domain)
    }
}

/// A domain whose layers are all searched.
enum SearchedDomain {
    /// Refuses a domain with a layer.
    static func check(_ domain: String?) throws(ToolError) {
        if let domain, domain.contains("@") { throw .oneLayer(domain) }
    }
}

/// The path to a part of a key's value.
struct PathOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A part of the key's value, such as options.audio.volume or 'books[0].title'.",
            valueName: "path"),
        transform: Self.path)
    var path: ValuePath?

    private static func path(_ spelling: String) throws -> ValuePath {
        do {
            return try ValuePath(ofPart: spelling)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension ValuePath {
    /// Parses a path to a part.
    ///
    /// - Throws: If it is empty. An empty path would mean the whole value, which a script with an
    ///   empty variable does not intend.
    init(ofPart spelling: String) throws {
        try self.init(spelling)
        guard !steps.isEmpty else { throw EmptyPath() }
    }

    private struct EmptyPath: Error, CustomStringConvertible {
        let description = "A path must not be empty. For the whole value, omit --path."
    }
}

/// The spelling of dates in values that are printed as JSON.
struct DatesOption: ParsableArguments {
    @Flag(
        help: """
            Print the dates in JSON in ISO 8601 and UTC, such as "2024-02-29T12:00:01Z", instead of \
            seconds since 2001. 'write --json', 'apply' and 'import' accept both.
            """)
    var isoDates = false

    /// Refuses the option if no JSON is printed.
    ///
    /// - Parameter option: The option that prints JSON.
    func validate(isJSON: Bool, by option: String = "--json") throws {
        guard !isoDates || isJSON else {
            throw ValidationError("--iso-dates is for dates in JSON. Also give \(option).")
        }
    }
}
