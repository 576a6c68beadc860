internal import Glibc

/// A store whose file is elsewhere, as it is for those who keep their settings in one directory and
/// link to them.
extension StoreFile {
    /// As many as Linux follows in one path.
    private static let mostLinks = 40

    /// The store of a directory, in the directory that a link in its place leads to.
    ///
    /// There SQLite keeps the log, and what is made anew is put: in place of the link it would leave
    /// the file that is meant as it was.
    init(in directory: PrivateDirectory) {
        var path = directory.file(StoreFile.name)
        // Where they lead round in a circle, opening the last one tells that.
        for _ in 0..<StoreFile.mostLinks {
            guard let target = StoreFile.target(ofLink: path) else { break }
            let isAbsolute = target.hasPrefix("/")
            path = isAbsolute ? target : PrivateDirectory.parent(of: path) + "/" + target
        }
        self.init(path: path)
    }

    /// What stands in a symbolic link; nil where there is none.
    private static func target(ofLink path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        // The buffer is used during the call only; what is longer than a path can be is none.
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.baseAddress.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
