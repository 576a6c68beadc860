internal import Glibc

/// An open file of 64-bit words: the one owner of a descriptor that can be mapped.
struct PageFile: ~Copyable {
    let path: String
    private let descriptor: Int32

    /// Opens for reading and writing, with the flags given beside; a link is not followed.
    init(_ path: String, _ flags: Int32 = 0) throws(SystemError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o600)
        guard descriptor >= 0 else { throw .last("open", path) }
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// What the file system knows of it.
    func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last("fstat", path) }
        return status
    }

    /// Makes it readable and writable by its owner alone, whatever the umask.
    func makePrivate() throws(SystemError) {
        guard fchmod(descriptor, 0o600) == 0 else { throw .last("fchmod", path) }
    }

    /// Takes the space for all of its bytes, so that a store into the mapping needs none.
    func allocate(_ size: Int) throws(SystemError) {
        // The function returns its error, and leaves errno alone.
        let number = posix_fallocate(descriptor, 0, off_t(size))
        guard number == 0 else {
            throw SystemError(call: "posix_fallocate", path: path, number: number)
        }
    }

    /// Writes words from a word on, the first of them first.
    ///
    /// Unlike a store into the mapping it may lengthen the file, and it fails where there is no
    /// space instead of ending the process.
    func write(_ words: [UInt64], at word: Int) throws(SystemError) {
        var written = 0
        let size = MemoryLayout<UInt64>.size
        while written < words.count * size {
            // The pointer is used during the call only.
            let count = words.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
                let offset = off_t(word * size + written)
                return pwrite(descriptor, rest.baseAddress, rest.count, offset)
            }
            guard count > 0 || errno == EINTR else { throw .last("write", path) }
            written += max(count, 0)
        }
    }

    /// Maps its words, shared with every process that maps the same file.
    ///
    /// The mapping serves on when the descriptor is closed.
    func map(words: Int) throws(SystemError) -> PageMapping {
        let size = words * MemoryLayout<UInt64>.size
        guard
            let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            address != MAP_FAILED
        else { throw .last("mmap", path) }
        return PageMapping(owning: address, words: words)
    }

    /// Opens the same file once more, for reading only, also where it has lost its name.
    ///
    /// Unlike a duplicate it shares no offset and no flags with this one, and nothing can be
    /// written through it.
    ///
    /// - Returns: A descriptor that is the caller's to close.
    func openForReading() throws(SystemError) -> Int32 {
        // See proc_pid_fd(5): the link leads to the file itself, not to its name.
        let link = "/proc/self/fd/\(descriptor)"
        let reading = Glibc.open(link, O_RDONLY | O_CLOEXEC)
        guard reading >= 0 else { throw .last("open", link) }
        return reading
    }
}
