import DefaultsClient
import DefaultsModel
import DefaultsTerms
import KeyedArchive

/// What one application in a sandbox may use beyond its own domains.
struct ApplicationGrant: Equatable {
    /// The patterns by what they allow, in the order in which they were granted.
    private(set) var patterns: [GrantTerms.Access: [String]]

    init() { patterns = [:] }

    /// - Throws: `ToolError` if it is no dictionary of lists of words.
    init(of archive: KeyedArchive, for application: String) throws(ToolError) {
        let lists: [String: [String]]
        do {
            lists = try KeyedArchiveDecoder().decode([String: [String]].self, from: archive)
        } catch {
            throw .invalidGrant(application)
        }
        patterns = [:]
        for access in GrantTerms.Access.allCases { patterns[access] = lists[access.rawValue] }
    }

    /// The archive of the dictionary.
    func archive() throws -> KeyedArchive {
        try KeyedArchiveEncoder().encode(
            Dictionary(uniqueKeysWithValues: patterns.map { ($0.key.rawValue, $0.value) }))
    }

    var isEmpty: Bool { patterns.values.allSatisfy(\.isEmpty) }

    mutating func add(_ new: [String], for access: GrantTerms.Access) {
        for pattern in new where patterns[access]?.contains(pattern) != true {
            patterns[access, default: []].append(pattern)
        }
    }

    /// - Parameters:
    ///   - old: The patterns; none for all.
    ///   - access: What they allow; nil for all.
    mutating func remove(_ old: [String], for access: GrantTerms.Access?) {
        for each in access.map({ [$0] }) ?? GrantTerms.Access.allCases {
            patterns[each]?.removeAll { old.isEmpty || old.contains($0) }
            if patterns[each]?.isEmpty == true { patterns[each] = nil }
        }
    }

    /// Refuses what can be no application.
    static func check(application: String) throws(ToolError) {
        guard application != GrantTerms.everybody else { return }
        if (try? Domain(ofApplication: application)) == nil { throw .noApplication(application) }
    }

    /// Refuses what can be no pattern.
    static func check(pattern: String) throws(ToolError) {
        if (try? DomainPattern(pattern)) == nil { throw .noPattern(pattern) }
    }
}

/// Grants at the service.
extension RemoteDefaults {
    /// The applications that have a grant in any layer, in the order of their bytes.
    func grantedApplications() async throws -> [String] {
        var all: Set<String> = []
        for layer in GrantTerms.layers {
            all.formUnion(try await keys(in: GrantTerms.domain + layer.suffix))
        }
        return all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The grant of an application that applies, and its layer; nil if there is none.
    func grant(
        of application: String
    ) async throws -> (grant: ApplicationGrant, layer: LayerName)? {
        for layer in GrantTerms.layers {
            let place = GrantTerms.domain + layer.suffix
            if let archive = try await archiveIfThere(forKey: application, in: place).archive {
                return (try ApplicationGrant(of: archive, for: application), layer)
            }
        }
        return nil
    }

    /// Changes the grant of an application in the user's layer, beginning with the one that applies.
    ///
    /// - Returns: Whether that has changed anything.
    func changeGrant(
        of application: String, _ change: (inout ApplicationGrant) throws -> Void
    ) async throws -> Bool {
        try await retrying {
            let own = try await archiveIfThere(forKey: application, in: GrantTerms.domain)
            let before = try await grant(of: application)?.grant ?? ApplicationGrant()
            var grant = before
            try change(&grant)
            guard grant != before else { return false }
            try await set(
                grant.archive(), forKey: application, in: GrantTerms.domain,
                ifStillAt: own.generation)
            return true
        }
    }
}
