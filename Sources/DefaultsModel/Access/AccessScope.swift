import DefaultsTerms

/// The domains that a program in a sandbox may read and change.
///
/// | domain | read | change |
/// |---|---|---|
/// | its application ID, and every domain below it | yes | yes |
/// | `NSGlobalDomain` | yes | no |
/// | what was granted to it | yes | if that was granted |
/// | `org.defaultsd.Grants`, `.Quotas`, `.Service`, `.History` | if that was granted | no |
/// | any other | no | no |
///
/// All of this is for every layer of a domain. Whether a layer can be changed at all is another
/// question.
package struct AccessScope: Sendable, Equatable {
    /// The domains that decide what programs in a sandbox may do, and how the service works.
    package static let policies = [
        GrantTerms.domain, QuotaTerms.domain, ServiceOption.domain, HistoryTerms.domain,
    ]

    /// What may be read besides what may be changed.
    private var readable: [DomainPattern] = []
    private var changeable: [DomainPattern] = []

    /// What an application may use without any grant.
    ///
    /// - Parameter application: Its ID; nil if it is unknown, and then nothing is its own.
    package init(ofApplication application: String?) {
        guard let own = application.flatMap({ try? Domain(ofApplication: $0) }) else { return }
        changeable = [DomainPattern(domainAndBelow: own)]
    }

    /// Adds what was granted.
    ///
    /// - Parameters:
    ///   - readable: What may be read.
    ///   - changeable: What may be read and changed.
    package mutating func grant(
        reading readable: [DomainPattern], changing changeable: [DomainPattern]
    ) {
        self.readable += readable
        self.changeable += changeable
    }

    /// Whether the program may know anything about a domain.
    package func mayRead(_ domain: Domain) -> Bool {
        domain.name == GlobalDomain.name || changeable.contains { $0.covers(domain.name) }
            || readable.contains { $0.covers(domain.name) }
    }

    /// Whether the program may change a domain.
    package func mayChange(_ domain: Domain) -> Bool {
        !Self.policies.contains(domain.name) && changeable.contains { $0.covers(domain.name) }
    }
}
