package import DefaultsTerms

/// What is kept in the history, and how much of it.
package struct HistoryRules: Sendable, Equatable {
    /// The bounds that are set; the others have their standard values.
    package var bounds: [HistoryOption: Int] = [:]
    /// The domains that have no history.
    package var excludedDomains: [DomainPattern] = []
    /// The keys that have no history, by the names of their domains.
    package var excludedKeys: [String: Set<String>] = [:]
    /// The programs that change settings by themselves.
    package var background: Set<String> = HistoryTerms.backgroundPrograms

    /// The rules without any setting.
    package init() {}

    /// The value of a bound.
    package subscript(option: HistoryOption) -> Int { bounds[option] ?? option.standard }

    /// Whether nothing is kept.
    package var isOff: Bool { self[.days] == 0 }

    /// Whether changes of a domain are kept.
    package func covers(_ domain: Domain) -> Bool {
        domain.hasHistory && !excludedDomains.contains { $0.covers(domain.name) }
    }

    /// Whether changes of a key are kept, if those of its domain are.
    package func covers(_ key: Key, in domain: Domain) -> Bool {
        excludedKeys[domain.name]?.contains(key.name) != true
    }
}
