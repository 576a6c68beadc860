package import DefaultsTerms

/// The words of the domain that says what roams, and where.
package enum RoamTerms {
    /// The domain: each key is a domain, a domain with `.*` for all below it, or `*` for all others; its
    /// value says which keys of it roam.
    package static let domain = "org.defaultsd.Roam"
    /// The domain of the values that lost.
    package static let conflicts = "org.defaultsd.RoamConflicts"
    /// The key of the server's address, as libpq takes it.
    package static let server = "Server"
    /// The key of the directory's path.
    package static let directory = "Directory"
    /// The key that turns roaming off, with false.
    package static let enabled = "Enabled"
    /// The key that has values encrypted before they leave the machine, with true.
    package static let encrypted = "Encrypted"
    /// The keys of the domain that are about this machine, and never roam.
    package static let settings: Set = [server, directory, enabled, encrypted]
    /// The domain of the key with which values are encrypted, wrapped by a passphrase.
    ///
    /// It roams only if they are.
    package static let keyDomain = "org.defaultsd.RoamKey"
    /// The key of it.
    package static let wrappedKey = "Wrapped"
    /// The domain of all encrypted values at a place.
    ///
    /// No machine has values of it.
    package static let sealed = "org.defaultsd.RoamSealed"
    /// The entry that lists the keys that roam; all if it is missing.
    package static let only = "only"
    /// The entry that lists the keys that stay.
    package static let except = "except"
    /// The end of a pattern for all that begins so.
    package static let wildcard: Character = "*"
    /// The layers that have settings and rules, the strongest first.
    package static let layers = [LayerName.managed, .host, .domain, .system]
    /// The largest value that roams, in bytes.
    package static let largestValue = 1 << 20
    /// The domains whose values roam wherever roaming is turned on: the choice itself, and what lost.
    package static let always: Set = [domain, conflicts]
    /// The domains that are about this machine or about rights, which no choice lets roam.
    package static let never: Set = [
        GrantTerms.domain, QuotaTerms.domain, ServiceOption.domain, HistoryTerms.domain,
        AppliedTerms.domain, keyDomain, sealed,
    ]
}
