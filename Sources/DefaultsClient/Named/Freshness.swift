/// Shows at any time, and without a lock, if a value that was read is still current.
///
/// It is taken before the read. As the first change after that ends it, a value that was read with it is
/// current as long as it holds.
package struct Freshness: Sendable {
    private let revision: UInt64
    private let own: HotValues.Watch
    private let global: HotValues.Watch?
    /// Keeps the counters mapped.
    private let counters: [Counter]

    /// - Returns: Nil if there is no page, so that nothing would show the end.
    init?(
        revision: UInt64, own: DomainCopy, _ global: DomainCopy?, _ access: borrowing ReadAccess
    ) {
        guard let counter = access[own.state].counter else { return nil }
        self.revision = revision
        self.own = HotValues.Watch(
            counter: counter.word, generation: access[own.state].generation)
        guard let global else {
            (self.global, counters) = (nil, [counter])
            return
        }
        guard let second = access[global.state].counter else { return nil }
        self.global = HotValues.Watch(
            counter: second.word, generation: access[global.state].generation)
        counters = [counter, second]
    }

    /// Whether nothing has changed in this process up to a revision, or in another one.
    func holds(at revision: UInt64) -> Bool {
        self.revision == revision && own.holds && global?.holds != false
    }

    /// Whether both end with the same changes.
    package func isSame(as other: Freshness) -> Bool {
        revision == other.revision && own == other.own && global == other.global
    }
}
