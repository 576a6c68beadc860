internal import Synchronization

/// Who keeps the page of counters when a process dies, if the page is memory that has no name.
///
/// Such a page can be cut by nobody. But nothing leads to it from outside, so the process that made it
/// gives a duplicate of its descriptor to one that outlives it: the service manager. The next process is
/// given that.
///
/// A page that no process after this one can find must not be believed any more when this one ends: an
/// orderly end voids it, as the keeper may not keep it over that. A process that is killed voids
/// nothing, and is followed by another, which takes the page up.
package final class PageKeeper: Sendable {
    /// The page of the process before, until somebody takes it.
    private let inherited: Mutex<Int32?>
    private let keep: @Sendable (Int32) -> Bool

    /// - Parameters:
    ///   - inherited: A descriptor of the page of the process before, which the keeper owns from now on.
    ///   - keep: Gives a duplicate to the one that outlives this process, in the place of any before.
    ///     It tells whether that has it.
    package init(inheriting inherited: Int32?, keep: @escaping @Sendable (Int32) -> Bool) {
        self.inherited = Mutex(inherited)
        self.keep = keep
    }

    /// Voids the page of the process before if nobody has taken it up: this process will not.
    package func voidInherited() {
        // It fails only if the file is none of ours.
        if let file = takeInherited() { try? CounterPage.void(file) }
    }

    /// The page of the process before, which is the caller's from now on.
    func takeInherited() -> PageFile? {
        guard let descriptor = inherited.withLock({ $0.take() }) else { return nil }
        return PageFile.inMemory(descriptor)
    }

    /// Has a page kept.
    ///
    /// - Returns: Whether it is.
    func keep(_ file: borrowing PageFile) -> Bool {
        keep(file.descriptor)
    }
}
