/// The changes of a domain for a consumer that is woken, and then asks for them.
///
/// It keeps one change of each key at most, the newest. It ends with the last reference.
package final class PolledChanges: Sendable {
    private let feed: ChangeFeed

    /// Begins to keep changes.
    ///
    /// This does not wait. If the domain was not read yet, it is read in the background.
    ///
    /// - Parameters:
    ///   - key: The key; nil for all.
    ///   - defaults: The domain.
    ///   - onChange: Called after each change, on any thread and without a lock.
    package init(
        of key: String?, in defaults: NamedDefaults, onChange: @escaping @Sendable () -> Void
    ) {
        feed = ChangeFeed(
            of: key.map { [KeyName($0)] }, in: defaults.store, onChange: onChange)
        feed.begin()
    }

    /// How many changes were not taken.
    package var waiting: Int { feed.waiting }

    /// The next change that was not taken; nil if there is none.
    package func next() -> (key: String, isFromThisProcess: Bool)? {
        feed.takeNext().map { ($0.name.string, $0.source.isThisProcess) }
    }
}
