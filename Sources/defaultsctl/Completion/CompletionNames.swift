import DefaultsClient

/// The names that complete a command line.
protocol CompletionNames {
    func domains() async -> [String]
    func keys(in domain: String) async -> [String]
    func backups() async -> [Candidate]
}

/// The names in the live database.
///
/// Where nobody answers there are none: a key that is pressed is no place for an error.
struct LiveNames: CompletionNames {
    func domains() async -> [String] {
        await ask {
            ["NSGlobalDomain"] + (try await $0.domains()).filter { $0 != "NSGlobalDomain" }
        }
    }

    func keys(in domain: String) async -> [String] {
        await ask { try await $0.keys(in: domain) }
    }

    func backups() async -> [Candidate] {
        await ask {
            [Candidate(word: "latest", note: "the newest")]
                + (try await $0.backups()).map {
                    Candidate(word: $0.name, note: "\(LocalTime($0.date).text), \($0.kind)")
                }
        }
    }

    private func ask<Names: RangeReplaceableCollection & Sendable>(
        _ question: (RemoteDefaults) async throws -> Names
    ) async -> Names {
        guard let defaults = try? await RemoteDefaults.connectToSession() else { return Names() }
        let names = try? await question(defaults)
        await defaults.close()
        return names ?? Names()
    }
}
