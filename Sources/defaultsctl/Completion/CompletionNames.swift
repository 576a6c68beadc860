import DBus
import DefaultsClient
import DefaultsTerms
import OwnedDocuments
import Wording

/// The names that complete a command line.
protocol CompletionNames {
    func domains(of kind: CompletedDomains) async -> [String]
    func keys(in domain: String, of kind: CompletedDomains) async -> [String]
    func backups() async -> [Candidate]
    func owners() async -> [Candidate]
    func hosts() async -> [Candidate]
}

/// The names in the live database.
///
/// If the service does not answer, there are no names: completion must not show errors.
struct LiveNames: CompletionNames {
    func domains(of kind: CompletedDomains) async -> [String] {
        await ask { defaults in
            var names = try await defaults.domainsOfValues()
            // An older daemon does not list files. Their domains can be written to, which overrides
            // them.
            let files = ((try? await defaults.layerFiles()) ?? []).compactMap(\.domainWithLayer)
            names += kind == .written ? files.map { String($0.prefix { $0 != "@" }) } : files
            if kind == .searched { names = names.map { String($0.prefix { $0 != "@" }) } }
            return [GlobalDomain.name] + Set(names).subtracting([GlobalDomain.name]).sorted()
        }
    }

    func keys(in domain: String, of kind: CompletedDomains) async -> [String] {
        await ask { defaults in
            guard kind == .searched else { return try await defaults.keys(in: domain) }
            let locked = ((try? await defaults.locks(of: domain)) ?? []).map(\.pattern)
            let keys = try await defaults.effectiveKeys(in: domain)
            return Set(keys + locked.filter { !$0.hasSuffix("*") }).sorted()
        }
    }

    func backups() async -> [Candidate] {
        await ask {
            [Candidate(word: "latest", note: "the newest")]
                + (try await $0.backups()).map {
                    Candidate(word: $0.name, note: "\(LocalTime($0.date).text), \($0.kind)")
                }
        }
    }

    func owners() async -> [Candidate] {
        await ask {
            try await OwnedKeys(of: $0).byOwner.map {
                Candidate(word: $0.owner.name, note: counted($0.places.count, "key"))
            }
        }
    }

    func hosts() async -> [Candidate] {
        await ask { defaults in
            let hosts = try await defaults.hosts()
            return hosts.map { host in
                // A name is useful only if it means exactly that machine.
                HostWords.isName(host.name) && hosts.named(host.name) == [host]
                    ? Candidate(word: host.name, note: host.id)
                    : Candidate(word: host.id, note: host.name)
            }
        }
    }

    private func ask<Names: RangeReplaceableCollection & Sendable>(
        _ question: (RemoteDefaults) async throws -> Names
    ) async -> Names {
        guard let loop = Defaultsctl.console.loop,
            case .service(let connection) = await ServiceSearch(on: loop).run()
        else { return Names() }
        let names = try? await question(RemoteDefaults(over: connection))
        await connection.close()
        return names ?? Names()
    }
}
