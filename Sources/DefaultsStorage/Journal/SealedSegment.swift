internal import Glibc

/// A segment of the journal that is no longer written to.
struct SealedSegment {
    let header: JournalHeader
    let directory: String
    let path: String
    /// The size in bytes.
    let size: Int

    /// What it takes up in bytes: a page at least, however little is in it.
    var footprint: Int { max(size, 4096) }

    /// Unlinks it.
    ///
    /// One that is gone already is no failure.
    func remove() throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last("unlink", path) }
    }
}

extension SealedSegment {
    /// The segment that a journal has written to until now.
    init(_ segment: borrowing JournalSegment, in directory: PrivateDirectory) {
        self.init(
            header: segment.header, directory: directory.path,
            path: directory.file(JournalSegment.name(segment.header.sequence)),
            size: segment.size)
    }
}
