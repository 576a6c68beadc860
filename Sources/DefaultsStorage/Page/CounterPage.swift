internal import DefaultsModel
internal import DefaultsTerms
internal import Glibc
internal import SystemCalls

/// The page of counters that clients map, so that they read without asking.
///
/// Its layout is in `CounterPageLayout`. If a service manager keeps the page, it is memory without a
/// name, see ``PageKeeper``. Otherwise it is the file `counters` in the directory of the journal.
///
/// A client takes its copy of generation G for current while the slot of the domain is G or less. So the
/// page must never show less than the truth. It may show more, which costs a client a question.
///
/// Invariants:
/// 1. A change that was acknowledged is on the page: its slot has its generation or a higher
///    one. The order is journal, slot, word 2, reply.
/// 2. A word never falls. Words are raised, also against another process that writes to the page. A file
///    that clients may have mapped is voided before a new file takes its place.
/// 3. Word 2 is raised after the slot. If it is P, all changes up to P that were made with this
///    page are on it. A process that dies between journal and slot, or between slot and word 2,
///    leaves a change above P in the journal. The next process replays it, and so brings the page up
///    to date, before it answers any call.
/// 4. Clients have the page mapped, so the same file is kept, but only under two conditions: the page
///    has the identity of the database, and the database has reached the generation of the page. A
///    database that was deleted and made again has another identity. In a database that was restored
///    from a backup, the counter has jumped above all numbers given, or is found to be less than that
///    of the page.
/// 5. A kept page is raised by single changes only if these are known to be all that it lacks:
///    word 2 is not below what is durable, and the numbers have not jumped. Otherwise another
///    process has written without it, or changes are lost, and every slot is raised.
/// 6. In a page that is *voided* every slot is the largest number, so no copy is current. Word 2 is the
///    largest number, too, so no process uses the page again. The words are written in ascending order,
///    word 2 first, so a page that is half voided is not used again, either. All bits of these words are
///    ones, so no word gets smaller, whatever part of the write a reader sees.
/// 7. A file that somebody has cut does not end the process: its length is checked before each store. A
///    page that was cut is voided, which lengthens it again, and is `isLost` from then on.
///
/// A file with a name cannot be sealed against cuts; the memory that a service manager keeps is sealed.
/// A file may still be cut in the instant between check and store. This ends the process as SIGKILL would:
/// the change is in the journal, and the next process finds the page short. A client that reads what was
/// cut off ends in the same way.
///
/// If a page has lost its name because its directory was removed, the process that has it mapped voids it
/// at the next change. No later process can reach it.
final class CounterPage {
    static let name = "counters"
    /// No page of any version is longer, in words.
    private static let mostWords = 1 << 17

    /// Where its name is; nil if it has none.
    private let directory: PrivateDirectory?
    private let file: PageFile
    let mapping: PageMapping
    /// Which file it is, whatever its name.
    private let identity: FileIdentity
    private var isVoid = false

    /// Maps a file that is a page, or is about to be one.
    init(
        in directory: PrivateDirectory?, _ file: consuming PageFile
    ) throws(SystemError) {
        identity = try file.status().identity
        mapping = try file.map(words: CounterPageLayout.words)
        self.directory = directory
        self.file = file
    }

    /// Shows a change, which is in the journal and not acknowledged yet.
    func note(_ change: ChangeSet) {
        guard isWhole else { return void() }
        mapping.raise(
            CounterPageLayout.slot(of: change.domain.name), to: change.generation.rawValue)
        mapping.raise(CounterPageLayout.generationWord, to: change.generation.rawValue)
    }

    /// Makes the copies of all clients that rely on this page invalid, for good.
    ///
    /// This comes before any change is acknowledged that this page does not show.
    func void() {
        isVoid = true
        // It can fail only if the file was cut and there is no space to lengthen it again. Then clients
        // have no memory there, either.
        try? CounterPage.void(file)
    }

    /// Whether it has no name under which a later process would find it.
    var hasNoName: Bool { directory == nil }

    /// Whether it can no longer be used: it was voided or cut, or the next process would not find it.
    var isLost: Bool {
        if isVoid || !isWhole { return true }
        guard let directory else { return false }
        return FileIdentity(of: directory.file(CounterPage.name)) != identity
    }

    /// Opens the page for a client to map: nothing can be written through the descriptor.
    ///
    /// - Returns: A descriptor that is the caller's to close.
    func openForReading() throws(SystemError) -> Int32 {
        try file.openForReading()
    }

    /// The number of the word that is a domain's slot, whatever its layer.
    static func slot(of domain: Domain) -> UInt32 {
        UInt32(CounterPageLayout.slot(of: domain.name))
    }

    /// Voids the page in a directory and removes it: clients that have it mapped must not rely on it while
    /// another page shows the changes, or none does.
    ///
    /// If there is none, nothing happens.
    static func voidPage(in directory: PrivateDirectory) throws(SystemError) {
        let path = directory.file(name)
        do throws(SystemError) {
            let file = try PageFile(path)
            let status = try file.status()
            // A file with a second hard link may belong to another program.
            guard status.linkCount <= 1 || file.beginsLikePage else {
                return try directory.remove(name)
            }
            let words = status.size / CounterPageLayout.wordSize
            // A page of another version may be longer. A file that is far longer was never a page.
            try void(file, words: min(max(words, CounterPageLayout.words), mostWords))
        } catch {
            if error.number == ENOENT { return }
            throw error
        }
        // If the name stays, it does no harm: no process uses the page, and a new one replaces it.
        try? directory.remove(name)
    }

    /// Whether all of the mapping is memory.
    private var isWhole: Bool {
        guard let status = try? file.status() else { return false }
        return status.size >= CounterPageLayout.size
    }

    static func void(_ file: borrowing PageFile) throws(SystemError) {
        try void(file, words: CounterPageLayout.words)
    }

    private static func void(_ file: borrowing PageFile, words: Int) throws(SystemError) {
        let first = CounterPageLayout.generationWord
        try file.write([UInt64](repeating: CounterPageLayout.void, count: words - first), at: first)
    }
}

/// How a process gets its page: it continues with that of an earlier process, or makes one.
extension CounterPage {
    /// Continues with the page of a directory, or makes one, and brings it up to date.
    ///
    /// A page that cannot be used is voided and replaced.
    ///
    /// - Parameters:
    ///   - current: The generation of the database. If the record is not complete, it is above
    ///     every number that was given before, or is that of the present contents.
    ///   - durable: The generation of the store, before any change of the journal was written to
    ///     it.
    ///   - replayed: All changes above `durable`; those that were replaced by later ones may be
    ///     missing. Nil if there may be others: the numbers have jumped, older changes were found
    ///     late, or the page is opened in the middle of a process.
    ///   - keeper: Who keeps a page of memory; nil for a file.
    /// - Throws: If there is no page. An existing one was voided, unless that is what failed.
    static func open(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation,
        durable: Generation, replayed: [ChangeSet]?, keeper: PageKeeper? = nil
    ) throws(Failure) -> CounterPage {
        if let keeper,
            let page = try openMemory(of: database, at: current, by: keeper, besides: directory)
        {
            page.bringUpToDate(to: current, durable: durable, replayed: replayed)
            return page
        }
        if let kept = try? keep(in: directory, of: database, at: current) {
            kept.bringUpToDate(to: current, durable: durable, replayed: replayed)
            return kept
        }
        do {
            try voidPage(in: directory)
        } catch {
            throw .notVoided(error)
        }
        do {
            return try make(in: directory, of: database, at: current)
        } catch {
            throw .notMade(error)
        }
    }

    /// Continues with the page of memory of the previous process, or makes one; nil if it would not
    /// be kept.
    ///
    /// An existing file is voided: an earlier process had no keeper.
    private static func openMemory(
        of database: UniqueID, at current: Generation, by keeper: PageKeeper,
        besides directory: PrivateDirectory
    ) throws(Failure) -> CounterPage? {
        do {
            try voidPage(in: directory)
        } catch {
            throw .notVoided(error)
        }
        if let file = keeper.takeInherited(), let page = try? CounterPage(in: nil, file) {
            if page.isPage(of: database, at: current) { return page }
            page.void()
        }
        let words = CounterPageLayout.page(of: database, at: current)
        guard let file = try? PageFile.inMemory(words), keeper.keep(file) else { return nil }
        return try? CounterPage(in: nil, file)
    }

    /// Why there is no page in a directory.
    enum Failure: Error {
        /// A page cannot be used, and clients that have it mapped rely on it.
        case notVoided(SystemError)
        /// No page can be made, and clients have to ask for every value.
        case notMade(SystemError)
    }

    /// Continues with the page of an earlier process; nil if it is not a page, or is of another
    /// database.
    private static func keep(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation
    ) throws(SystemError) -> CounterPage? {
        let file = try PageFile(directory.file(name))
        let status = try file.status()
        guard status.kind == .regular, status.linkCount == 1,
            status.size == CounterPageLayout.size
        else { return nil }
        try file.makePrivate()
        // The file may have a hole.
        try file.allocate(CounterPageLayout.size)
        let page = try CounterPage(in: directory, file)
        return page.isPage(of: database, at: current) ? page : nil
    }

    private func isPage(of database: UniqueID, at current: Generation) -> Bool {
        mapping.load(CounterPageLayout.formatWord) == CounterPageLayout.format
            && mapping.load(CounterPageLayout.slotCountWord) == UInt64(CounterPageLayout.slots)
            && CounterPageLayout.databaseWords.map { mapping.load($0) }
                == CounterPageLayout.words(of: database)
            && mapping.load(CounterPageLayout.generationWord) <= current.rawValue
    }

    /// Makes a page on which every domain has changed now.
    ///
    /// It gets its name only when it is complete.
    private static func make(
        in directory: PrivateDirectory, of database: UniqueID, at generation: Generation
    ) throws(SystemError) -> CounterPage {
        let unfinished = name + JournalSegment.unfinishedSuffix
        _ = try directory.setStrangeAside(unfinished)
        do throws(SystemError) {
            let file = try PageFile(directory.file(unfinished), O_CREAT | O_TRUNC)
            try file.makePrivate()
            try file.allocate(CounterPageLayout.size)
            try file.write(CounterPageLayout.page(of: database, at: generation), at: 0)
            let page = try CounterPage(in: directory, file)
            try directory.rename(unfinished, to: name)
            return page
        } catch {
            try? directory.remove(unfinished)
            throw error
        }
    }

    private func bringUpToDate(
        to current: Generation, durable: Generation, replayed: [ChangeSet]?
    ) {
        let noted = mapping.load(CounterPageLayout.generationWord)
        if let replayed, noted >= durable.rawValue {
            for change in replayed {
                mapping.raise(
                    CounterPageLayout.slot(of: change.domain.name), to: change.generation.rawValue)
            }
        } else {
            for slot in CounterPageLayout.firstSlot..<CounterPageLayout.words {
                mapping.raise(slot, to: current.rawValue)
            }
        }
        mapping.raise(CounterPageLayout.generationWord, to: current.rawValue)
    }
}

/// The page of one database.
extension CounterPageLayout {
    /// The identity of a database in its two words.
    static func words(of database: UniqueID) -> [UInt64] {
        database.bytes.withUnsafeBytes { bytes in
            // The buffer is read in bounds: an identity has 16 bytes.
            [0, 8].map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
        }
    }

    /// A complete page on which every domain has changed at a generation.
    static func page(of database: UniqueID, at generation: Generation) -> [UInt64] {
        let header = [format, UInt64(slots), generation.rawValue] + words(of: database)
        let reserved = [UInt64](repeating: 0, count: firstSlot - header.count)
        return header + reserved + [UInt64](repeating: generation.rawValue, count: slots)
    }
}
