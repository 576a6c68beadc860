internal import DefaultsModel
internal import Synchronization
internal import SystemCalls

/// The page that a database shows its changes on, and those that clients may believe though it
/// shows nothing there.
///
/// Invariants:
/// 1. A page that is not shown to is void, or is on record until it is: here, for the next change,
///    and in the note of places, for the next process. The note leads away from no page before.
/// 2. There is one page, or none and clients have to ask.
struct CounterPages {
    private let database: UniqueID
    /// Who keeps the page when this process dies, if it is no file.
    private let keeper: PageKeeper?
    private let report: (Notice) -> Void
    /// Where clients see that something has changed; nil while there is none to be had.
    private(set) var current: CounterPage?
    /// The directories of pages that could not be made void yet.
    private(set) var left: [PrivateDirectory] = []
    /// Whether the log knows that there is none.
    private var isMissed = false

    init(
        of database: UniqueID, keeper: PageKeeper? = nil, report: @escaping (Notice) -> Void
    ) {
        self.database = database
        self.keeper = keeper
        self.report = report
    }

    /// Makes the pages of other places void, where there are any.
    mutating func void(in directories: [PrivateDirectory]) {
        for directory in directories {
            do {
                try CounterPage.voidPage(in: directory)
            } catch {
                leave(directory, error)
            }
        }
    }

    /// Tries again to make void what could not be.
    ///
    /// It is done before anything is acknowledged that those pages do not show.
    ///
    /// - Returns: Whether some of it is void now.
    mutating func voidLeft() -> Bool {
        let count = left.count
        left.removeAll { (try? CounterPage.voidPage(in: $0)) != nil }
        return left.count < count
    }

    /// Takes up the page of a directory, or makes one, and brings it up to date; where there is none
    /// to be had, the log is told why, once.
    ///
    /// - Parameters:
    ///   - durable: The generation of the store, before any change of the journal was written to
    ///     it.
    ///   - replayed: All changes above `durable`; nil where there may be others.
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

    /// Gives the page up: from now on nothing that happens is shown there.
    mutating func giveUp() {
        current?.void()
        current = nil
    }

    /// Closes the page, for the next process to take up.
    mutating func close() {
        // That process may not find it.
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
