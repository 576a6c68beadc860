internal import Glibc

/// A system call that failed.
///
/// It is the cause of a `StorageError`, which says what the failure means.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system call.
    package let call: String
    /// What it was called on.
    package let path: String
    /// The number it failed with, such as `ENOSPC`.
    package let number: Int32

    /// The failure of the call that has just returned in this thread.
    static func last(_ call: String, _ path: String) -> SystemError {
        SystemError(call: call, path: path, number: errno)
    }

    /// The call, its object and the system's words for the reason.
    package var description: String {
        "\(call) \(path): \(String(cString: strerror(number)))"
    }
}

/// An open file or directory, closed when it goes out of scope: the one owner of its descriptor.
struct File: ~Copyable {
    let path: String
    /// For system calls that borrow it.
    let descriptor: Int32

    /// Opens, with `O_CLOEXEC` beside the flags given.
    ///
    /// A file made is readable and writable by its owner alone.
    init(_ path: String, _ flags: Int32) throws(SystemError) {
        let descriptor = retrying { open(path, flags | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw .last("open", path) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Takes an open file over.
    ///
    /// - Parameter path: What messages call it.
    init(owning descriptor: Int32, named path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens what must be a regular file.
    ///
    /// Somebody may have given its name to something else; a pipe that nobody writes to would be
    /// waited for without an end.
    static func regular(_ path: String, _ flags: Int32) throws(SystemError) -> File {
        let file: File
        do {
            file = try File(path, flags | O_NONBLOCK)
        } catch {
            guard error.number == EISDIR else { throw error }
            throw SystemError(call: openingRegular, path: path, number: EISDIR)
        }
        guard try file.status().st_mode & S_IFMT == S_IFREG else {
            throw SystemError(call: openingRegular, path: path, number: EINVAL)
        }
        return file
    }

    /// What failed, in errors of ``regular(_:_:)`` about a directory, a pipe and the like.
    static let openingRegular = "open as a regular file"

    deinit {
        close(descriptor)
    }

    /// The size in bytes.
    func size() throws(SystemError) -> Int {
        Int(try status().st_size)
    }

    /// What the file system knows of it.
    func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last("fstat", path) }
        return status
    }

    /// Sets the permission bits, whatever the umask.
    func setMode(_ mode: mode_t) throws(SystemError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("fchmod", path) }
    }

    /// Writes all bytes at an offset: one system call, unless the system takes only a part.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            // The pointer is used during the call only.
            let count = bytes.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
                return retrying {
                    pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
                }
            }
            guard count > 0 else { throw .last("write", path) }
            written += count
        }
    }

    /// Reads up to `count` bytes at an offset; fewer only at the end of the file.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                // The pointer is used during the call only.
                let rest = buffer.baseAddress.map { $0 + filled }
                let got = retrying {
                    pread(descriptor, rest, count - filled, off_t(offset + filled))
                }
                if got < 0 { failure = .last("read", path) }
                guard got > 0 else { return }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Cuts the file to a size.
    func truncate(to size: Int) throws(SystemError) {
        guard retrying({ ftruncate(descriptor, off_t(size)) }) == 0 else {
            throw .last("ftruncate", path)
        }
    }

    /// Makes a short text the whole of the file, or leaves it empty.
    ///
    /// The text is written over the old one, which needs no space where that was as long. Nothing
    /// waits for the medium.
    func replaceContents(with text: String) throws(SystemError) {
        let bytes = Array(text.utf8)
        do throws(SystemError) {
            try write(bytes, at: 0)
            try truncate(to: bytes.count)
        } catch {
            // An old text would be taken for the new one.
            try? truncate(to: 0)
            throw error
        }
    }

    /// Waits until what was written, or the names in a directory, are on the medium.
    func synchronize() throws(SystemError) {
        guard retrying({ fsync(descriptor) }) == 0 else { throw .last("fsync", path) }
    }

    /// Takes the file's lock, held until `unlock()` or the end of the process.
    ///
    /// - Returns: Whether it was free.
    func tryLock() throws(SystemError) -> Bool {
        if retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .last("flock", path) }
        return false
    }

    /// Gives the file's lock up.
    ///
    /// Closing would do the same, unless a child process that is just being started shares the
    /// descriptor until it runs its own program.
    func unlock() {
        // It cannot fail on a descriptor that is open, and there is nothing to do if it did.
        _ = flock(descriptor, LOCK_UN)
    }
}

/// Repeats a system call that a signal interrupted.
private func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

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
