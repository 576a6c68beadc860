internal import Glibc

/// What a directory lists.
package enum Directory {
    /// A name in a directory, and what the directory says of it.
    package struct Entry: Sendable {
        /// The name; bytes that are not UTF-8 are replaced.
        package let name: String
        /// Whether the name is UTF-8, so that it leads to the file.
        package let isExact: Bool
        /// Whether it is a regular file; false if the file system does not say in the directory.
        package let isRegular: Bool
    }

    /// The entries in the order of the file system, without `.` and `..`.
    package static func entries(in path: String) throws(SystemError) -> [Entry] {
        let flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC
        let number = FileCalls.open(path, flags)
        guard number >= 0 else { throw .last("opendir", path) }
        // This function owns the stream, and the stream owns the descriptor.
        guard let stream = fdopendir(number) else {
            defer { close(number) }
            throw .last("opendir", path)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .last("readdir", path) }
                return entries
            }
            // The entry is valid until the next call, and the name in it ends with NUL.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
            entries.append(Entry(name, isRegular: Int32(entry.pointee.d_type) == Int32(DT_REG)))
        }
    }

    /// The names in the order of the file system, without `.` and `..`.
    package static func names(in path: String) throws(SystemError) -> [String] {
        try entries(in: path).map(\.name)
    }

    /// The names in a directory; none if it cannot be read.
    package static func readableNames(in path: String) -> [String] {
        (try? names(in: path)) ?? []
    }
}

extension Directory.Entry {
    fileprivate init(_ bytes: [UInt8], isRegular: Bool) {
        let exact = String(validating: bytes, as: UTF8.self)
        name = exact ?? String(decoding: bytes, as: UTF8.self)
        isExact = exact != nil
        self.isRegular = isRegular
    }
}

/// Paths, and what symbolic links make of them.
package enum Path {
    /// The path of the directory that a file is in.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let parent = path[..<slash]
        return parent.isEmpty ? "/" : String(parent)
    }

    /// The deepest file or directory of a path that exists.
    package static func existing(onTheWayTo path: String) -> String {
        var existing = path
        while existing != "/", existing != ".", FileStatus.ifAny(existing) == nil {
            existing = parent(of: existing)
        }
        return existing
    }

    /// What a symbolic link leads to; nil if it is not a link, or cannot be read.
    package static func target(ofLink path: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            // The pointer is used during the call only.
            count = buffer.baseAddress.map { max(0, readlink(path, $0, buffer.count)) } ?? 0
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The absolute path without symbolic links.
    package static func real(_ path: String) throws(SystemError) -> String {
        guard let real = realpath(path, nil) else { throw .last("realpath", path) }
        // The text is on the heap, and this function frees it.
        defer { free(real) }
        return String(cString: real)
    }

    /// The working directory of this process.
    package static func workingDirectory() throws(SystemError) -> String {
        guard let path = getcwd(nil, 0) else { throw .last("getcwd", ".") }
        // The text is on the heap, and this function frees it.
        defer { free(path) }
        return String(cString: path)
    }
}

/// The name that people know this machine by.
package enum HostName {
    /// The name now; it may change at any time.
    package static var current: String {
        var system = utsname()
        guard uname(&system) == 0 else { return "localhost" }
        // The field is a C string in an array of fixed size; the string copies it.
        return withUnsafeBytes(of: &system.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
