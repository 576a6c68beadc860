/// The words of grants: what programs in a sandbox may use beyond their own domains.
package enum GrantTerms {
    /// The domain whose keys are application IDs and whose values are grants.
    package static let domain = "org.defaultsd.Grants"
    /// The key for all programs in a sandbox.
    package static let everybody = "*"
    /// The pattern for all domains.
    package static let everything = "*"
    /// The end of a pattern for a domain and all domains below it.
    package static let andBelow = ".*"

    /// What a grant allows; the raw values are the keys of its dictionary.
    package enum Access: String, CaseIterable, Sendable {
        case read
        /// Changing, and reading.
        case write
    }

    /// The layers that have grants, the strongest first.
    package static let layers = [LayerName.managed, .host, .domain, .system]
}
