import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import ValuePaths

/// For which host a verb is; macOS's spelling stands before the verb.
///
/// Where the verb names a domain, the grammar has made the host a part of that, and nothing is left
/// here: see ``CommandWords``.
struct HostOption: ParsableArguments {
    @Flag(help: "Of this host only, as -currentHost before the verb.")
    var currentHost = false

    @Option(help: ArgumentHelp("Of another host, as -host before the verb.", valueName: "name"))
    var host: String?

    /// Whether a host was named apart from a domain.
    var isGiven: Bool { currentHost || host != nil }

    /// The names of the domains that have keys for the host, or for any host where none was named,
    /// without suffix; and with it, as calls take them.
    func domains(
        of defaults: RemoteDefaults
    ) async throws -> [(name: String, layer: String)] {
        let suffixes = try await suffixes(of: defaults)
        return try await defaults.domains().compactMap { layer in
            let name = layer.prefix { $0 != "@" }
            let suffix = layer.dropFirst(name.count)
            return suffixes.contains(String(suffix)) ? (String(name), layer) : nil
        }
    }

    /// How the layers in question may be spelled: the service names a host by its name, and by its ID
    /// where the name would not do, whichever of them was typed.
    private func suffixes(of defaults: RemoteDefaults) async throws -> [String] {
        guard let host else { return [currentHost ? LayerName.host.suffix : ""] }
        // An older daemon knows no names, nor does any tell one in a sandbox.
        let hosts = (try? await defaults.hosts()) ?? []
        let machines = hosts.named(host)
        if machines.count > 1 {
            // The service has the words for that.
            let suffix = LayerName.suffix(ofHost: host)
            _ = try await defaults.keys(in: GlobalDomain.name + suffix)
        }
        guard let machine = machines.first else { return [LayerName.suffix(ofHost: host)] }
        return machine == hosts.first
            ? [LayerName.host.suffix] : [machine.name, machine.id].map(LayerName.suffix(ofHost:))
    }
}

/// Whether a verb is for what holds for an application, in the place of what one layer has.
struct EffectiveOption: ParsableArguments {
    @Flag(help: "What holds for the application, whichever layer it is from.")
    var effective = false

    /// Refuses the domain of one layer where all are looked into.
    func check(_ domain: String?) throws(ToolError) {
        if effective { try SearchedDomain.check(domain) }
    }

    /// The value of a key.
    ///
    /// - Throws: `ToolError` with what was perhaps meant, where there is none.
    func archive(
        forKey key: String, in domain: String, of defaults: RemoteDefaults
    ) async throws -> KeyedArchive {
        do {
            return effective
                ? try await defaults.lookUp(key, in: domain).archive
                : try await defaults.archive(forKey: key, in: domain).archive
        } catch let error as ClientError where error.code == .notFound {
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

/// A domain that is looked up in all its layers.
enum SearchedDomain {
    /// Refuses one that names a layer.
    static func check(_ domain: String?) throws(ToolError) {
        if let domain, domain.contains("@") { throw .oneLayer(domain) }
    }
}

/// The way to a part of a key's value.
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
    /// A path to a part.
    ///
    /// - Throws: Where it is empty: that would be the whole value, which a script whose variable is
    ///   empty does not mean.
    init(ofPart spelling: String) throws {
        try self.init(spelling)
        guard !steps.isEmpty else { throw EmptyPath() }
    }

    private struct EmptyPath: Error, CustomStringConvertible {
        let description = "A path is not empty; for the whole value, leave it out."
    }
}

/// How dates are spelled in values that are printed as JSON.
struct DatesOption: ParsableArguments {
    @Flag(
        help: """
            Print the dates in JSON in ISO 8601, in UTC, such as "2024-02-29T12:00:01Z", and not as \
            seconds since 2001; 'write --json', 'apply' and 'import' take both.
            """)
    var isoDates = false

    /// Refuses the option if no JSON is printed.
    ///
    /// - Parameter option: What prints JSON.
    func validate(isJSON: Bool, by option: String = "--json") throws {
        guard !isoDates || isJSON else {
            throw ValidationError("--iso-dates is for dates in JSON; give \(option) too.")
        }
    }
}
