package import Glibc

/// An open file or directory.
///
/// It is the one owner of its descriptor, which it closes in the end.
package struct File: ~Copyable {
    /// What messages call it.
    package let path: String
    /// For system calls that borrow it.
    package let descriptor: Int32

    /// Opens a file, with `O_CLOEXEC` in addition to the given flags.
    ///
    /// If the file is created, only its owner can read and write it.
    package init(_ path: String, _ flags: Int32) throws(SystemError) {
        let descriptor = FileCalls.open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open", path) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a file in an open directory, with `O_CLOEXEC` in addition to the given flags.
    package init(
        _ name: String, _ flags: Int32, in directory: borrowing File
    ) throws(SystemError) {
        let path = "\(directory.path)/\(name)"
        let descriptor = retrying { openat(directory.descriptor, name, flags | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .last("openat", path) }
        self.path = path
        self.descriptor = descriptor
    }

    /// Takes ownership of an open file.
    ///
    /// - Parameter path: What messages call it.
    package init(owning descriptor: Int32, named path: String) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a file that must be a regular one.
    ///
    /// Another program may have given its name to something else. Opening a pipe would wait without end for
    /// its writer.
    package static func regular(_ path: String, _ flags: Int32) throws(SystemError) -> File {
        let file: File
        do {
            file = try File(path, flags | O_NONBLOCK)
        } catch {
            guard error.number == EISDIR else { throw error }
            throw SystemError(call: openingRegular, path: path, number: EISDIR)
        }
        guard try file.status().kind == .regular else {
            throw SystemError(call: openingRegular, path: path, number: EINVAL)
        }
        return file
    }

    /// What failed, in errors of ``regular(_:_:)`` about a directory, a pipe and the like.
    package static let openingRegular = "open as a regular file"

    /// Makes an empty file with a new name.
    ///
    /// Only its owner can read and write it.
    ///
    /// - Parameter beginning: How its path begins; an ending is added that no other file has.
    package static func temporary(beginning: String) throws(SystemError) -> File {
        var name = Array("\(beginning).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw .last("mkstemp", beginning) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let path = name.dropLast().map(UInt8.init(bitPattern:))
        return File(owning: descriptor, named: String(decoding: path, as: UTF8.self))
    }

    deinit {
        close(descriptor)
    }

    /// The size in bytes.
    package func size() throws(SystemError) -> Int {
        try status().size
    }

    /// What the file system knows of it.
    package func status() throws(SystemError) -> FileStatus {
        try FileStatus(ofDescriptor: descriptor, named: path)
    }

    /// Sets the permission bits, whatever the umask.
    package func setMode(_ mode: mode_t) throws(SystemError) {
        guard fchmod(descriptor, mode) == 0 else { throw .last("fchmod", path) }
    }
}

// MARK: At an offset

extension File {
    /// Writes all bytes at an offset: one system call, unless the system takes only a part.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
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
    package func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
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
    package func truncate(to size: Int) throws(SystemError) {
        guard retrying({ ftruncate(descriptor, off_t(size)) }) == 0 else {
            throw .last("ftruncate", path)
        }
    }

    /// Replaces the contents with a short text, or leaves the file empty.
    ///
    /// The text is written over the old one. That needs no space if the old one is as long. It does not
    /// wait for the disk.
    package func replaceContents(with text: String) throws(SystemError) {
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

    /// Allocates space for the first bytes, so that writing them needs no more.
    package func allocate(_ size: Int) throws(SystemError) {
        // The function returns its error, and does not set errno.
        let number = posix_fallocate(descriptor, 0, off_t(size))
        guard number == 0 else {
            throw SystemError(call: "posix_fallocate", path: path, number: number)
        }
    }

    /// Waits until what was written, or the names in a directory, are on the disk.
    package func synchronize() throws(SystemError) {
        guard retrying({ fsync(descriptor) }) == 0 else { throw .last("fsync", path) }
    }
}

// MARK: As a stream

extension File {
    /// The bytes of a file, a pipe or a device up to its end.
    ///
    /// - Returns: Nil if there are more than `limit`.
    package func contents(atMost limit: Int) throws(SystemError) -> [UInt8]? {
        try File.contents(ofDescriptor: descriptor, named: path, atMost: limit)
    }

    /// The bytes of an open file that somebody else owns, such as standard input, up to its end.
    ///
    /// - Returns: Nil if there are more than `limit`.
    package static func contents(
        ofDescriptor number: Int32, named path: String, atMost limit: Int
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        // One byte more than the size, so that the call that reads all also finds the end.
        let size = (try? FileStatus(ofDescriptor: number))?.size ?? 0
        var buffer = [UInt8](repeating: 0, count: min(max(size + 1, 1 << 16), 1 << 20))
        while true {
            let count = retrying { Glibc.read(number, &buffer, buffer.count) }
            guard count >= 0 else { throw .last("read", path) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { return nil }
        }
    }

    /// Writes all bytes to a file, a pipe or a device.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try File.write(bytes, toDescriptor: descriptor, named: path)
    }

    /// Writes all bytes to an open file that somebody else owns, such as standard output.
    package static func write(
        _ bytes: [UInt8], toDescriptor number: Int32, named path: String
    ) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer is used during the call only.
            let count = rest.withUnsafeBytes { buffer in
                retrying { Glibc.write(number, buffer.baseAddress, buffer.count) }
            }
            guard count > 0 else { throw .last("write", path) }
            rest = rest.dropFirst(count)
        }
    }
}

// MARK: The lock

extension File {
    /// Takes the file's lock, which lasts until `unlock()` or the end of the process.
    ///
    /// - Returns: Whether it was free.
    package func tryLock() throws(SystemError) -> Bool {
        if retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .last("flock", path) }
        return false
    }

    /// Releases the file's lock.
    ///
    /// Closing the file would do the same. But a child process that is just being started shares the
    /// descriptor until it runs its own program.
    package func unlock() {
        // It cannot fail on an open descriptor, and there would be nothing to do about it.
        _ = flock(descriptor, LOCK_UN)
    }
}
