/// A change is refused, as the administrator has locked a key that it is of.
struct LockedKey: Error {
    let key: String
    let domain: String
    /// The file that locks it.
    let file: String
    /// Whether that is one of NSGlobalDomain, which locks the key in every other domain, too.
    let isForAllApplications: Bool
}
