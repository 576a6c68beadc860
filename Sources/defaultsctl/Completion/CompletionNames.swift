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
    /// The numbers of actions in the history, the newest first.
    ///
    /// - Parameter isRedo: Whether only what can be made again is meant.
    func actions(isRedo: Bool) async -> [Candidate]
    /// The programs that have changed something lately.
    func programs() async -> [Candidate]
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

    /// How many of the newest actions are looked through.
    private static let mostActions = 200

    func actions(isRedo: Bool) async -> [Candidate] {
        await newest().filter { !isRedo || $0.kind == .undo && !$0.isUndone }.map { action in
            let state = [action.kindWords, action.isUndone ? "undone" : nil].compactMap(\.self)
            return Candidate(
                word: "\(action.number)",
                note: ([action.time, action.who] + state).joined(separator: ", "))
        }
    }

    func programs() async -> [Candidate] {
        let names = await newest().map(\.author.program)
        return Set(names).subtracting([""]).sorted().map { Candidate(word: $0) }
    }

    private func newest() async -> [HistoryAction] {
        var query = HistoryQuery()
        query.limit = Self.mostActions
        return await ask { try await $0.actions(query).actions }
    }

    private func ask<Names: RangeReplaceableCollection & Sendable>(
        _ question: (RemoteDefaults) async throws -> Names
    ) async -> Names {
        // As if the command needed the bus: no daemon is started to complete a line.
        (try? await ServiceSession.run(needsBus: true, question)) ?? Names()
    }
}
