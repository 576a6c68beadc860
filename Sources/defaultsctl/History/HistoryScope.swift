import DefaultsClient
import DefaultsTerms

/// Which keys of actions are meant: all, or those of a domain, or one.
struct HistoryScope {
    /// The domain as it was given, with the suffix of its layer; nil for all.
    let domain: String?
    /// The key; nil for all keys of the domain.
    let key: String?
    /// How the service may spell the domain.
    private let spellings: Set<String>

    /// All keys of all domains.
    static let everything = HistoryScope(domain: nil, key: nil, spellings: [])

    private init(domain: String?, key: String?, spellings: Set<String>) {
        (self.domain, self.key, self.spellings) = (domain, key, spellings)
    }

    /// - Parameter defaults: The service knows the names of other machines.
    init(domain: String?, key: String?, asking defaults: RemoteDefaults) async throws {
        var spellings = Set([domain].compactMap(\.self))
        let hostPrefix = LayerName.suffix(ofHost: "")
        if let domain, let start = domain.firstRange(of: hostPrefix) {
            // The service spells a host by its name, or by its ID if the name is not unique.
            let name = domain[..<start.lowerBound]
            let hosts = (try? await defaults.hosts()) ?? []
            for machine in hosts.named(String(domain[start.upperBound...])) {
                spellings.insert(name + LayerName.suffix(ofHost: machine.name))
                spellings.insert(name + LayerName.suffix(ofHost: machine.id))
                if machine == hosts.first { spellings.insert(name + LayerName.host.suffix) }
            }
        }
        self.init(domain: domain, key: key, spellings: spellings)
    }

    /// Whether a key is meant.
    func includes(_ key: String, in domain: String) -> Bool {
        (self.domain == nil || spellings.contains(domain)) && (self.key.map { $0 == key } ?? true)
    }

    /// Whether a key is shown to people and is a part of a patch.
    ///
    /// What documents own is about this machine, and changes with the keys that they set.
    func shows(_ key: String, in domain: String) -> Bool {
        includes(key, in: domain) && (domain != AppliedTerms.domain || self.domain == domain)
    }

    /// The query for the actions that have changed such keys.
    var query: HistoryQuery {
        var query = HistoryQuery()
        (query.domain, query.key) = (domain, key)
        return query
    }

    /// The words for messages, such as ` of org.example.Game`; empty for everything.
    var words: String {
        guard let domain else { return "" }
        return key.map { " of '\($0.inBrief)' of \(domain.onOneLine)" } ?? " of \(domain.onOneLine)"
    }
}
