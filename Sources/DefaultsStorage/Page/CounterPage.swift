internal import DefaultsModel
internal import DefaultsTerms
internal import Glibc

/// The page of counters that clients map, so that they read without asking.
///
/// It is laid out as `CounterPageLayout` has it. If a service manager keeps it, it is memory without a name,
/// see ``PageKeeper``; else it is the file `counters` in the directory of the journal. A client takes the copy that it made at generation G for current while the slot of the domain is
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
/// A file with a name cannot be sealed against that; the memory that a service manager keeps is sealed.
/// With a file, what is left is a cut in the instant between look and store. It ends the process as
/// SIGKILL would: the change stands in the journal, and the next process finds the page short. A client
/// that reads what was cut off ends in the same way.
///
/// A page that has lost its name, as its directory was removed, is voided by the process that has
/// it mapped, at the next change. No later process can reach it.
final class CounterPage {
    static let name = "counters"
    /// No page of any version is longer, in words; what is longer is none.
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
        identity = FileIdentity(try file.status())
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

    /// Makes every copy that a client has by this page one that is not current, for good.
    ///
    /// It is done before anything is acknowledged that this page does not show.
    func void() {
        isVoid = true
        // It can fail only where the file was cut and there is no space to lengthen it again.
        // What was cut off is no memory to a client, either.
        try? CounterPage.void(file)
    }

    /// Whether no later process would find it.
    var hasNoName: Bool { directory == nil }

    /// Whether it can serve no longer: it was voided or cut, or the next process would not find
    /// it.
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

    /// Voids the page in a directory and removes it: clients that have it mapped must not believe
    /// it while changes are shown elsewhere, or nowhere.
    ///
    /// Where there is none, nothing happens.
    static func voidPage(in directory: PrivateDirectory) throws(SystemError) {
        let path = directory.file(name)
        do throws(SystemError) {
            let file = try PageFile(path)
            let status = try file.status()
            let words = Int(status.st_size) / CounterPageLayout.wordSize
            // One of another version may be longer. What is far longer was never a page.
            try void(file, words: min(max(words, CounterPageLayout.words), mostWords))
        } catch {
            if error.number == ENOENT { return }
            throw error
        }
        // Where the name stays it does no harm: nobody takes the page up, a new one replaces it.
        try? directory.remove(name)
    }

    /// Whether all of the mapping is memory.
    private var isWhole: Bool {
        guard let status = try? file.status() else { return false }
        return status.st_size >= off_t(CounterPageLayout.size)
    }

    static func void(_ file: borrowing PageFile) throws(SystemError) {
        try void(file, words: CounterPageLayout.words)
    }

    private static func void(_ file: borrowing PageFile, words: Int) throws(SystemError) {
        let first = CounterPageLayout.generationWord
        try file.write([UInt64](repeating: CounterPageLayout.void, count: words - first), at: first)
    }
}
