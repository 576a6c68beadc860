import DefaultsClient

/// What was perhaps meant by the name of something that is not there.
extension RemoteDefaults {
    /// The most names that are compared with the one that was typed.
    private static var mostNames: Int { 10_000 }

    /// The error for a key that is not there, with the key or the domain that was perhaps meant.
    ///
    /// - Parameter isEffective: Whether it was looked up in all layers.
    func noPair(
        _ domain: String, _ key: String, amongEffective isEffective: Bool = false
    ) async -> ToolError {
        let keys =
            isEffective
            ? try? await effectiveKeys(in: domain) : try? await self.keys(in: domain)
        if let keys, !keys.isEmpty {
            return .noPair(
                domain, key, meant: Spelling.nearest(to: key, among: keys.prefix(Self.mostNames)))
        }
        return .noPair(domain, key, meant: await domainNear(domain))
    }

    /// The error for a domain that has no keys, with the one that was perhaps meant.
    func noDomain(_ domain: String) async -> ToolError {
        .noDomain(domain, meant: await domainNear(domain))
    }

    /// The domain that was perhaps meant by one that is not there.
    func domainNear(_ domain: String) async -> String? {
        let domains = (try? await domains()) ?? []
        return Spelling.nearest(to: domain, among: domains.prefix(Self.mostNames))
    }
}
