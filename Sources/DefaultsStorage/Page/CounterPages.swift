internal import DefaultsModel
internal import Synchronization
internal import SystemCalls

/// The page on which a database shows its changes, and old pages that clients may still rely on.
///
/// Invariants:
/// 1. A page on which changes are no longer shown is either void or listed until it is void: here
///    for the next change, and in the note of places for the next process. The note drops no page
///    before.
/// 2. There is at most one page. If there is none, clients have to ask.
struct CounterPages {
    private let database: UniqueID
    /// Who keeps the page when this process dies, if it is not a file.
    private let keeper: PageKeeper?
    private let report: (Notice) -> Void
    /// The page on which clients see that something has changed; nil while none can be made.
    private(set) var current: CounterPage?
    /// The directories of pages that could not be voided yet.
    private(set) var left: [PrivateDirectory] = []
    /// Whether it was reported that there is none.
    private var isMissed = false

    init(
        of database: UniqueID, keeper: PageKeeper? = nil, report: @escaping (Notice) -> Void
    ) {
        self.database = database
        self.keeper = keeper
        self.report = report
    }

    /// Voids the pages in other places, if there are any.
    mutating func void(in directories: [PrivateDirectory]) {
        for directory in directories {
            do {
                try CounterPage.voidPage(in: directory)
            } catch {
                leave(directory, error)
            }
        }
    }

    /// Tries again to void the pages that are left.
    ///
    /// This comes before a change is acknowledged that those pages do not show.
    ///
    /// - Returns: Whether a page was voided.
    mutating func voidLeft() -> Bool {
        let count = left.count
        left.removeAll { (try? CounterPage.voidPage(in: $0)) != nil }
        return left.count < count
    }

    /// Continues with the page of a directory, or makes one, and brings it up to date.
    ///
    /// If none can be made, the reason is reported once.
    ///
    /// - Parameters:
    ///   - durable: The generation of the store, before any change of the journal was written to
    ///     it.
    ///   - replayed: All changes above `durable`; nil if there may be others.
    mutating func open(
        in directory: PrivateDirectory, at current: Generation, durable: Generation,
        replayed: [ChangeSet]?
    ) {
        do throws(CounterPage.Failure) {
            self.current = try CounterPage.open(
                in: directory, of: database, at: current, durable: durable, replayed: replayed,
                keeper: keeper)
            left.removeAll { $0.path == directory.path }
            isMissed = false
        } catch {
            switch error {
            case .notVoided(let cause): leave(directory, cause)
            case .notMade(let cause):
                if !isMissed { report(.noPage(cause)) }
                isMissed = true
            }
        }
    }

    /// Voids the page: from now on it shows no changes.
    mutating func giveUp() {
        current?.void()
        current = nil
    }

    /// Closes the page, for the next process to continue with.
    mutating func close() {
        // The next process may not find it.
        if let current, current.isLost || current.hasNoName { current.void() }
        current = nil
    }

    private mutating func leave(_ directory: PrivateDirectory, _ cause: SystemError) {
        guard !left.contains(where: { $0.path == directory.path }) else { return }
        left.append(directory)
        report(.pageNotVoided(directory.path, cause))
    }
}

/// Who keeps the page of counters when a process dies, if the page is memory that has no name.
///
/// Nobody can cut such a page. But it has no path, so the process that made it gives a duplicate of
/// its descriptor to a process that lives longer: the service manager, which gives it to the next
/// process.
///
/// When this process ends and no later process can find the page, clients must not rely on it. So
/// an orderly end voids it, because the keeper may drop it then. A process that is killed voids
/// nothing: the next process continues with the page.
package final class PageKeeper: Sendable {
    /// The page of the previous process, until it is taken.
    private let inherited: Mutex<Int32?>
    private let keep: @Sendable (Int32) -> Bool

    /// - Parameters:
    ///   - inherited: A descriptor of the page of the previous process, which the keeper owns from
    ///     now on.
    ///   - keep: Gives a duplicate to the process that lives longer, in place of an earlier one.
    ///     Returns whether it was accepted.
    package init(inheriting inherited: Int32?, keep: @escaping @Sendable (Int32) -> Bool) {
        self.inherited = Mutex(inherited)
        self.keep = keep
    }

    /// Voids the page of the previous process if it was not taken, because this process will not
    /// use it.
    package func voidInherited() {
        // It fails only if the file is not a page.
        if let file = takeInherited() { try? CounterPage.void(file) }
    }

    /// The page of the previous process, which the caller owns from now on.
    func takeInherited() -> PageFile? {
        guard let descriptor = inherited.withLock({ $0.take() }) else { return nil }
        return PageFile.inMemory(descriptor)
    }

    /// Gives a page to the keeper.
    ///
    /// - Returns: Whether it is kept.
    func keep(_ file: borrowing PageFile) -> Bool {
        keep(file.descriptor)
    }
}
