import DefaultsClient

/// What is watched.
struct WatchScope {
    /// The domain as it was given; nil for all.
    let domain: String?
    /// The key; nil for all of the domain.
    let key: String?

    /// The domain without the suffix of a layer, as the signal has it; nil for all.
    var name: String? { domain.map { String($0.prefix { $0 != "@" }) } }

    /// A name alone stands for all layers of the domain.
    ///
    /// - Parameter spelling: A domain, with the suffix of its layer.
    func includes(domain spelling: String) -> Bool {
        guard let domain else { return true }
        return domain == spelling
            || !domain.contains("@") && spelling.prefix { $0 != "@" } == domain
    }

    func includes(key: String) -> Bool {
        self.key == nil || self.key == key
    }
}
