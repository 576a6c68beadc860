internal import Glibc

/// A segment of the journal that is no longer written to.
struct SealedSegment {
    let header: JournalHeader
    let directory: String
    let name: String
    /// The size in bytes.
    let size: Int

    var path: String { "\(directory)/\(name)" }

    /// Whether a start has put it off.
    var isPutOff: Bool { name.hasSuffix(JournalSegment.putOffSuffix) }

    /// What it takes up in bytes: a page at least, however little is in it.
    var footprint: Int { max(size, 4096) }

    /// Unlinks it.
    ///
    /// One that is gone already is no failure.
    func remove() throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
    }

    /// Leaves it to a later start, with all that stands in it.
    ///
    /// It gets a name by which a start finds it, and by which nobody takes it for a part of the
    /// journal that follows: neither for one that is not needed, nor for proof of what was given.
    func putOff() throws(SystemError) {
        guard !isPutOff else { return }
        _ = try PrivateDirectory(existing: directory).setAside(
            name, as: JournalSegment.putOffSuffix)
    }
}

extension SealedSegment {
    /// The segment that a journal has written to until now.
    init(_ segment: borrowing JournalSegment, in directory: PrivateDirectory) {
        self.init(
            header: segment.header, directory: directory.path,
            name: JournalSegment.name(segment.header.sequence),
            size: segment.size)
    }
}
