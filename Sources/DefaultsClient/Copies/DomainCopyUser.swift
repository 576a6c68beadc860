/// What looks into a copy: it remembers what it has found, and has observers.
protocol DomainCopyUser: AnyObject, Sendable {
    var failures: Failures { get }

    func isObserved(_ access: borrowing ReadAccess) -> Bool
    /// Forgets what was found for keys that have changed.
    func forget(_ names: some Collection<KeyName>, _ access: borrowing WriteAccess)
    /// What observers have seen of some keys, before a change of them.
    ///
    /// - Parameter onlyKnown: Whether keys that the application has not asked for are left out.
    func observed(
        _ names: some Collection<KeyName>, onlyKnown: Bool, _ access: borrowing WriteAccess
    ) -> [KeyName: Found]
    /// Forgets what was found for keys that have changed, and notifies the observers.
    func note(
        _ names: some Collection<KeyName>, _ before: [KeyName: Found], by source: ChangeSource,
        _ access: borrowing WriteAccess)
}

/// The value of a key, by the search list.
struct Found: Sendable {
    /// The value; nil if no layer has one.
    var entry: Entry?
    /// The layer that has it.
    var layer: DefaultsLayer?
    /// The domain, with its suffix, in which the service has it.
    var spelling: String?
}
