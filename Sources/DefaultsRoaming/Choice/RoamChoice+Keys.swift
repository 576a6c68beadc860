import RoamingTerms

extension RoamChoice {
    /// Whether a key roams.
    func covers(_ key: RoamingKey) -> Bool { covers(key.name, of: key.domain) }
}
