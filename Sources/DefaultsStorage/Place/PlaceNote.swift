internal import Glibc
internal import SystemCalls

/// A note in the directory of the database that says where the previous process left its files.
///
/// The runtime directory depends on how a process was started: a session has one, `su` and cron
/// have none. The next process finds the journal by this note all the same. If it does not
/// find it, it knows that there was one, and numbers in it that must not be given again. And it
/// finds the pages of counters that clients may still have mapped.
///
/// The file is `journal-place`: the identity of the boot, a space, the path of the journal's
/// directory, for each other page a NUL and the path of its directory, and a line feed. It does not
/// have to survive a power cut, because it is valid only until the next boot.
struct PlaceNote: Equatable {
    /// Where the last journal is.
    let journal: JournalPlace
    /// Other directories with a page that clients may still rely on, because it could not be
    /// voided.
    let pages: [String]

    private static let name = "journal-place"
    /// How many pages are noted at most.
    ///
    /// More are not expected: each is in another place, and could not be written although its
    /// directory belongs to this user.
    private static let mostPages = 8
    /// More than the longest paths with everything before and after them.
    private static let largestSize = (mostPages + 2) * 4096

    init(journal: JournalPlace, pages: [String]) {
        self.journal = journal
        self.pages = Array(pages.prefix(PlaceNote.mostPages))
    }

    /// Reads the note; nil if there is none, or if it is invalid.
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

    /// Whether the file has a second name, under which another program may use it.
    private func isShared(_ directory: PrivateDirectory) -> Bool {
        let status = FileStatus.ifAny(directory.file(PlaceNote.name), followingLinks: false)
        return status.map { $0.linkCount > 1 } ?? false
    }

    /// Writes the note, before the first change is made in that place.
    ///
    /// If there is no space for it, there is no note, and the next process continues from the
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
