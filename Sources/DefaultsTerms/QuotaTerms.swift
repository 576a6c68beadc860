/// The words of quotas: how much programs may store.
package enum QuotaTerms {
    /// The domain whose keys are domains or application IDs, and whose values are their bounds.
    package static let domain = "org.defaultsd.Quotas"
    /// The key for all that have no bound of their own.
    package static let everybody = "*"

    /// What is bounded; the raw values are the keys of a dictionary with numbers.
    package enum Bound: String, CaseIterable, Sendable {
        /// The keys of a domain.
        case domainKeys = "DomainKeys"
        /// The size of a domain's names and archives, in bytes.
        case domainBytes = "DomainBytes"
        /// The keys of all domains of an application in a sandbox.
        case keys = "Keys"
        /// The size of all domains of an application in a sandbox, in bytes.
        case bytes = "Bytes"
        /// The domains of an application in a sandbox.
        case domains = "Domains"
        /// The domains of all programs together.
        case allDomains = "AllDomains"
        /// The names and archives that a program may set in a minute, in bytes.
        case bytesPerMinute = "BytesPerMinute"
        /// The space on the disk that only small domains may use, in bytes.
        case freeDisk = "FreeDisk"
    }

    /// While there is less of ``Bound/freeDisk``, only domains up to this size may grow (1 MiB).
    package static let smallDomain = 1 << 20
}
