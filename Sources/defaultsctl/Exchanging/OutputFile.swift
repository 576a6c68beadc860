import DBus
@preconcurrency import Glibc

/// Writes a file as a whole, or not at all.
enum OutputFile {
    struct Failure: Error {
        let message: String
    }

    /// Replaces a file: at every moment it has either its old or its new contents.
    ///
    /// Something that is not a regular file is written to directly.
    ///
    /// A new file is only for its owner, because values may be private. An existing file keeps its
    /// mode.
    static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        var status = stat()
        let exists = stat(path, &status) == 0
        guard !exists || status.st_mode & S_IFMT == S_IFREG else {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(errno) }
            defer { close(descriptor) }
            return try write(bytes, to: descriptor)
        }
        // A link stays, and leads to the new file.
        let target = exists ? realpath(path) : path
        var name = Array("\(target).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Failure(errno) }
        defer { close(descriptor) }
        do throws(Failure) {
            try write(bytes, to: descriptor)
            if exists { fchmod(descriptor, status.st_mode & 0o777) }
            guard fsync(descriptor) == 0, rename(name, target) == 0 else { throw Failure(errno) }
        } catch {
            unlink(name)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer is used only during the call.
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    private static func realpath(_ path: String) -> String {
        guard let real = Glibc.realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}

extension OutputFile.Failure {
    fileprivate init(_ code: Int32) {
        message = "\(SystemError.words(for: code))."
    }
}
