internal import Glibc
internal import SystemCalls

/// A note in the database's directory that tells where the last process has left its files.
///
/// The runtime directory depends on how a process was started: a session has one, `su` and cron
/// have none. The next process finds the journal by this note all the same. Where it does not
/// find it, it knows that there was one, and numbers in it that must not be given again. And it
/// finds the pages of counters that clients may still have mapped.
///
/// The file is `journal-place`: the identity of the boot, a space, the path of the journal's
/// directory, for each other page a NUL and the path of its directory, and a line feed. It need not
/// outlive a power cut, as no place holds good in another boot.
struct PlaceNote: Equatable {
    /// Where the last journal stands.
    let journal: JournalPlace
    /// Other directories with a page that clients may still believe: it could not be made void.
    let pages: [String]

    private static let name = "journal-place"
    /// How many pages are noted.
    ///
    /// More are not to be expected: each stands in another place, and could not be written though
    /// its directory belongs to this user.
    private static let mostPages = 8
    /// More than the longest paths with all that is before and behind them.
    private static let largestSize = (mostPages + 2) * 4096

    init(journal: JournalPlace, pages: [String]) {
        self.journal = journal
        self.pages = Array(pages.prefix(PlaceNote.mostPages))
    }

    /// Reads the note; nil where there is none, or none that makes sense.
    init?(in directory: PrivateDirectory) {
        guard let file = try? File.regular(directory.file(PlaceNote.name), O_RDONLY | O_NOFOLLOW),
            let bytes = try? file.read(PlaceNote.largestSize, at: 0),
            bytes.last == UInt8(ascii: "\n")
        else { return nil }
        let paths = bytes.dropLast().split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard let parts = paths.first?.split(separator: " ", maxSplits: 1), parts.count == 2,
            let boot = UniqueID(spelling: parts[0]), parts[1].hasPrefix("/")
        else { return nil }
        self.init(
            journal: JournalPlace(boot: boot, path: String(parts[1])),
            pages: Array(paths.dropFirst()))
    }

    /// Whether the file has a second name, by which another program may use it.
    private func isShared(_ directory: PrivateDirectory) -> Bool {
        let status = FileStatus.ifAny(directory.file(PlaceNote.name), followingLinks: false)
        return status.map { $0.linkCount > 1 } ?? false
    }

    /// Writes the note, before the first change stands in that place.
    ///
    /// Where there is no space for it there is no note, and the next process goes on from the
    /// ceiling.
    func write(in directory: PrivateDirectory, report: (Notice) -> Void) {
        guard PlaceNote(in: directory) != self || isShared(directory) else { return }
        let places = ["\(journal.boot) \(journal.path)"] + pages
        do throws(SystemError) {
            let path = directory.file(PlaceNote.name)
            if let aside = try directory.setStrangeAside(PlaceNote.name) {
                report(.strangeFile(path, setAside: aside))
            }
            let file = try File.regular(path, O_RDWR | O_CREAT | O_NOFOLLOW)
            try file.setMode(0o600)
            try file.replaceContents(with: places.joined(separator: "\0") + "\n")
        } catch {
            report(.placeNotNoted(journal.path, error))
        }
    }
}
