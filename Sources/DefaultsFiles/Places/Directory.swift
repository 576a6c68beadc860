internal import Glibc

/// The names in a directory.
enum Directory {
    /// The names in byte order, without `.` and `..`; those that are not UTF-8 come as bytes that were
    /// repaired.
    ///
    /// - Throws: The number of the system's error.
    static func names(
        in path: String
    ) throws(SystemError) -> [(text: String, isExact: Bool)] {
        // The stream has one owner, this function.
        guard let stream = opendir(path) else { throw SystemError(code: errno) }
        defer { closedir(stream) }
        var names: [(text: String, isExact: Bool)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemError(code: errno) }
                break
            }
            // The entry is valid until the next call; the name in it ends with NUL.
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard bytes != [0x2E], bytes != [0x2E, 0x2E] else { continue }
            let exact = String(validating: bytes, as: UTF8.self)
            names.append((exact ?? String(decoding: bytes, as: UTF8.self), exact != nil))
        }
        return names.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }
}

/// A call of the system that failed.
struct SystemError: Error {
    let code: Int32
}
