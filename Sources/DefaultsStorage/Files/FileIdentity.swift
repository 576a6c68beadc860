internal import Glibc

/// What tells one file of this machine from every other, whatever their names.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let node: ino_t

    init(_ status: stat) {
        device = status.st_dev
        node = status.st_ino
    }

    /// That of the file which has this name; nil where none can be found.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether the file has this name no more: nothing has it, or another file.
    ///
    /// Where nobody may look, as the permission was taken away, that is no sign of it: what is
    /// written through an open descriptor reaches the disk all the same.
    func hasLost(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR }
        return FileIdentity(status) != self
    }
}
