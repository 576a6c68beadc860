@preconcurrency import Glibc

/// Queries about files.
enum SystemFile {
    /// The target of a symbolic link; nil if it is not a link, or cannot be read.
    static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        // The pointer is used only during the call.
        let length = readlink(path, &bytes, bytes.count)
        guard length > 0 else { return nil }
        return String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The directory that a file is in.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The result of stat(2); nil if the file does not exist.
    static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

extension SystemFile {
    /// Whether two paths lead to the same file.
    static func areSame(_ path: String, _ other: String) -> Bool {
        guard let first = status(of: path), let second = status(of: other) else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// The names in a directory.
    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        // The entry is valid until the next call, and its name is copied.
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}
