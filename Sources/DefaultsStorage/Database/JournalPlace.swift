internal import Glibc

/// A note in the database's directory that tells where the last journal stands.
///
/// The runtime directory depends on how a process was started: a session has one, `su` and cron
/// have none. The next process finds the journal by this note all the same. Where it does not
/// find it, it knows that there was one, and numbers in it that must not be given again.
///
/// The file is `journal-place`: the identity of the boot, a space, the path, a line feed. It need
/// not outlive a power cut, as no place holds good in another boot, or on another host.
struct JournalPlace: Equatable {
    let boot: UniqueID
    /// The directory's real path.
    let path: String

    private static let name = "journal-place"
    /// More than the longest path with all that is before and behind it.
    private static let largestSize = 8192

    init(boot: UniqueID, path: String) {
        self.boot = boot
        self.path = path
    }

    /// Reads the note; nil where there is none, or none that makes sense.
    init?(notedIn directory: PrivateDirectory) {
        guard let file = try? File(directory.file(JournalPlace.name), O_RDONLY),
            let bytes = try? file.read(JournalPlace.largestSize, at: 0),
            bytes.last == UInt8(ascii: "\n")
        else { return nil }
        let text = String(decoding: bytes.dropLast(), as: UTF8.self)
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let boot = UniqueID(spelling: parts[0]), parts[1].hasPrefix("/")
        else { return nil }
        self.init(boot: boot, path: String(parts[1]))
    }

    /// Writes the note, before the first change stands in that place.
    ///
    /// Where there is no space for it there is no note, and the next process goes on from the
    /// ceiling.
    func note(in directory: PrivateDirectory, report: (Notice) -> Void) {
        guard JournalPlace(notedIn: directory) != self else { return }
        do throws(SystemError) {
            let file = try File(directory.file(JournalPlace.name), O_RDWR | O_CREAT)
            try file.setMode(0o600)
            try file.replaceContents(with: "\(boot) \(path)\n")
        } catch {
            report(.placeNotNoted(path, error))
        }
    }
}
