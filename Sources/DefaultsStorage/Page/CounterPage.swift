internal import DefaultsModel
internal import Glibc

/// The page of counters that clients map, so that they read without asking.
///
/// It is the file `counters` in the directory of the journal, laid out as `PageLayout` has it. A
/// client takes the copy that it made at generation G for current while the slot of the domain is
/// G or less. So the page must never show less than the truth, and may show more: that costs a
/// client a question.
///
/// Invariants:
/// 1. A change that was acknowledged stands on the page: its slot has its generation or a higher
///    one. The order is journal, slot, word 2, reply.
/// 2. A word never falls. Words are raised, also against another process that writes to the page;
///    whatever puts a new file in the place of one that clients may have mapped voids that first.
/// 3. Word 2 is raised after the slot. Where it has come to P, all changes up to P that were made
///    with this page stand on it. A process that dies between journal and slot, or between slot
///    and word 2, leaves a change above P in the journal, and the next one brings the page up to
///    date by its replay, before anybody can ask it for anything.
/// 4. A page is kept, the same file, as clients have it mapped, only for the database whose
///    identity it bears and while its generation is one that this database has reached. A
///    database that was deleted and made anew has another identity; one restored from a backup has
///    a counter that jumped above all numbers given, or is found to be behind its page.
/// 5. A kept page is raised by single changes only where these are known to be all that it lacks:
///    word 2 is not below what is durable, and the numbers have not jumped. Otherwise another
///    process has written without it, or changes are lost, and every slot is raised.
/// 6. In a page that is *voided* every slot is the largest number: no copy is current any more, and
///    nobody takes it up again, as word 2 is the largest number, too. It is written in ascending
///    order, word 2 first, so one that is half voided is not taken up either. Bytes of all ones
///    make no word smaller, however a reader catches the write.
/// 7. The process is not ended by a file that somebody has cut: its length is looked at before
///    each store. What was cut is voided, lengthening it again, and `isLost` from then on.
///
/// A regular file cannot be sealed against that, and a memfd, which can, does not outlive this
/// process. What is left is a cut in the instant between look and store. It ends the process as
/// SIGKILL would: the change stands in the journal, and the next process finds the page short.
///
/// A page that has lost its name, as its directory was removed, is voided by the process that has
/// it mapped, at the next change. No later process can reach it.
final class CounterPage {
    private static let name = "counters"
    /// No page of any version is longer, in words; what is longer is none.
    private static let mostWords = 1 << 17

    private let directory: PrivateDirectory
    private let file: PageFile
    private let mapping: PageMapping
    /// Which file it is, whatever its name.
    private let identity: FileIdentity
    private var isVoid = false

    private init(
        in directory: PrivateDirectory, _ file: consuming PageFile
    ) throws(SystemError) {
        identity = FileIdentity(try file.status())
        mapping = try file.map(words: PageLayout.words)
        self.directory = directory
        self.file = file
    }

    /// Takes up the page that a directory has, or makes one, and brings it up to date.
    ///
    /// A page that cannot be taken up is voided and replaced.
    ///
    /// - Parameters:
    ///   - current: The generation of the database. Where the record is not whole, it is above
    ///     every number that was given before, or is that of the present contents.
    ///   - durable: The generation of the store, before any change of the journal was written to
    ///     it.
    ///   - replayed: All changes above `durable`, those that later ones have replaced left out or
    ///     not; nil where there may be others: the numbers have jumped, older changes have come to
    ///     light, or the page takes up its work in the middle of a process.
    /// - Throws: Where there is none to be had. One that was there is voided then, unless that is
    ///   what failed.
    static func open(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation,
        durable: Generation, replayed: [ChangeSet]?
    ) throws(Failure) -> CounterPage {
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

    /// Why there is no page in a directory.
    enum Failure: Error {
        /// There is one that cannot be taken up, and clients that have it mapped believe it.
        case notVoided(SystemError)
        /// None can be made, and clients have to ask for every value.
        case notMade(SystemError)
    }

    /// Shows a change, which is in the journal and not acknowledged yet.
    func note(_ change: ChangeSet) {
        guard isWhole else { return void() }
        mapping.raise(PageLayout.slot(of: change.domain), to: change.generation.rawValue)
        mapping.raise(PageLayout.generationWord, to: change.generation.rawValue)
    }

    /// Makes every copy that a client has by this page one that is not current, for good.
    ///
    /// It is done before anything is acknowledged that this page does not show.
    func void() {
        isVoid = true
        // It can fail only where the file was cut and there is no space to lengthen it again.
        // What was cut off is no memory to a client, either.
        try? CounterPage.void(file, words: PageLayout.words)
    }

    /// Whether it can serve no longer: it was voided or cut, or the next process would not find
    /// it.
    var isLost: Bool {
        isVoid || !isWhole || FileIdentity(of: directory.file(CounterPage.name)) != identity
    }

    /// Opens the page for a client to map: nothing can be written through the descriptor.
    ///
    /// - Returns: A descriptor that is the caller's to close.
    func openForReading() throws(SystemError) -> Int32 {
        try file.openForReading()
    }

    /// The number of the word that is a domain's slot, whatever its layer.
    static func slot(of domain: Domain) -> UInt32 {
        UInt32(PageLayout.slot(of: domain))
    }

    /// Voids the page in a directory and removes it: clients that have it mapped must not believe
    /// it while changes are shown elsewhere, or nowhere.
    ///
    /// Where there is none, nothing happens.
    static func voidPage(in directory: PrivateDirectory) throws(SystemError) {
        let path = directory.file(name)
        do throws(SystemError) {
            let file = try PageFile(path)
            let status = try file.status()
            let words = Int(status.st_size) / MemoryLayout<UInt64>.size
            // One of another version may be longer. What is far longer was never a page.
            try void(file, words: min(max(words, PageLayout.words), mostWords))
        } catch {
            if error.number == ENOENT { return }
            throw error
        }
        // Where the name stays it does no harm: nobody takes the page up, a new one replaces it.
        try? directory.remove(name)
    }
}

// MARK: Taking up, making, voiding

extension CounterPage {
    /// Takes up the page of an earlier process; nil where it is none, or not this database's.
    private static func keep(
        in directory: PrivateDirectory, of database: UniqueID, at current: Generation
    ) throws(SystemError) -> CounterPage? {
        let file = try PageFile(directory.file(name))
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size == off_t(PageLayout.size) else {
            return nil
        }
        try file.makePrivate()
        // Somebody may have made a hole in it.
        try file.allocate(PageLayout.size)
        let page = try CounterPage(in: directory, file)
        return page.isPage(of: database, at: current) ? page : nil
    }

    private func isPage(of database: UniqueID, at current: Generation) -> Bool {
        mapping.load(PageLayout.formatWord) == PageLayout.format
            && mapping.load(PageLayout.slotCountWord) == UInt64(PageLayout.slots)
            && PageLayout.databaseWords.map { mapping.load($0) } == PageLayout.words(of: database)
            && mapping.load(PageLayout.generationWord) <= current.rawValue
    }

    /// Makes a page on which every domain has changed now.
    ///
    /// It gets its name only when it is whole.
    private static func make(
        in directory: PrivateDirectory, of database: UniqueID, at generation: Generation
    ) throws(SystemError) -> CounterPage {
        let unfinished = name + JournalSegment.unfinishedSuffix
        do throws(SystemError) {
            let file = try PageFile(directory.file(unfinished), O_CREAT | O_TRUNC)
            try file.makePrivate()
            try file.allocate(PageLayout.size)
            try file.write(PageLayout.page(of: database, at: generation), at: 0)
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
        let noted = mapping.load(PageLayout.generationWord)
        if let replayed, noted >= durable.rawValue {
            for change in replayed {
                mapping.raise(PageLayout.slot(of: change.domain), to: change.generation.rawValue)
            }
        } else {
            for slot in PageLayout.firstSlot..<PageLayout.words {
                mapping.raise(slot, to: current.rawValue)
            }
        }
        mapping.raise(PageLayout.generationWord, to: current.rawValue)
    }

    /// Whether all of the mapping is memory.
    private var isWhole: Bool {
        guard let status = try? file.status() else { return false }
        return status.st_size >= off_t(PageLayout.size)
    }

    private static func void(_ file: borrowing PageFile, words: Int) throws(SystemError) {
        let first = PageLayout.generationWord
        try file.write([UInt64](repeating: .max, count: words - first), at: first)
    }
}
