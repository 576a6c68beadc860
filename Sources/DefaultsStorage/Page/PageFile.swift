internal import CLinux
internal import Glibc
internal import SystemCalls

/// An open file of 64-bit words that can be mapped.
struct PageFile: ~Copyable {
    private let file: File

    /// Opens a regular file for reading and writing, with further flags; a link is not followed.
    init(_ path: String, _ flags: Int32 = 0) throws(SystemError) {
        file = try File.regular(path, O_RDWR | O_NOFOLLOW | flags)
    }

    private init(owning file: consuming File) {
        self.file = file
    }

    /// Makes a file in memory that has no name and a fixed length.
    ///
    /// Its mode keeps readers from opening it for writing by mistake. This does not protect it: a program
    /// of the same user can change the mode.
    static func inMemory(_ words: [UInt64]) throws(SystemError) -> PageFile {
        let descriptor = clinux_make_sealable_file(memoryName)
        guard descriptor >= 0 else { throw .last("memfd_create", memoryName) }
        let page = PageFile(owning: File(owning: descriptor, named: memoryName))
        try page.write(words, at: 0)
        guard clinux_seal_size(descriptor) == 0 else { throw .last("fcntl", memoryName) }
        try page.file.setMode(0o400)
        return page
    }

    /// Takes over a file in memory that an earlier process made; nil if its length is not fixed.
    static func inMemory(_ descriptor: Int32) -> PageFile? {
        let file = PageFile(owning: File(owning: descriptor, named: memoryName))
        guard clinux_is_size_sealed(descriptor) != 0 else { return nil }
        return file
    }

    /// What the system calls such a file, as in `/proc/PID/maps`.
    private static let memoryName = "defaultsd-counters"

    /// The descriptor, for callers that keep a duplicate.
    var descriptor: Int32 { file.descriptor }

    /// What the file system knows of it.
    func status() throws(SystemError) -> FileStatus {
        try file.status()
    }

    /// Whether it begins with the format and the number of slots of a page of any version.
    var beginsLikePage: Bool {
        guard let words = try? words(2) else { return false }
        return words.count == 2 && 1...UInt64(UInt8.max) ~= words[0]
            && 1...UInt64(UInt16.max) ~= words[1]
    }

    /// The first words; fewer if it is shorter.
    private func words(_ count: Int) throws(SystemError) -> [UInt64] {
        let bytes = try file.read(count * MemoryLayout<UInt64>.size, at: 0)
        // The buffer is read in bounds.
        return bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / MemoryLayout<UInt64>.size).map {
                bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<UInt64>.size, as: UInt64.self)
            }
        }
    }

    /// Makes it readable and writable by its owner alone, whatever the umask.
    func makePrivate() throws(SystemError) {
        try file.setMode(0o600)
    }

    /// Allocates the space for all of its bytes, so that a store into the mapping needs no more.
    func allocate(_ size: Int) throws(SystemError) {
        try file.allocate(size)
    }

    /// Writes words in ascending order, beginning at a word of the file.
    ///
    /// Unlike a store into the mapping, this may lengthen the file. If there is no space, it fails, and the
    /// process does not end.
    func write(_ words: [UInt64], at word: Int) throws(SystemError) {
        // The buffer is used for the copy only.
        let bytes = words.withUnsafeBytes { Array($0) }
        try file.write(bytes, at: word * MemoryLayout<UInt64>.size)
    }

    /// Maps its words, shared with every process that maps the same file.
    ///
    /// The mapping stays valid after the descriptor is closed.
    func map(words: Int) throws(SystemError) -> PageMapping {
        let size = words * MemoryLayout<UInt64>.size
        guard
            let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
            address != MAP_FAILED
        else { throw .last("mmap", file.path) }
        return PageMapping(owning: address, words: words)
    }

    /// Opens the same file once more, for reading only, also if it has lost its name.
    ///
    /// Unlike a duplicate, the new descriptor has its own offset and flags, and cannot be used for writing.
    ///
    /// - Returns: A descriptor that is the caller's to close.
    func openForReading() throws(SystemError) -> Int32 {
        let reading = FileCalls.openAgain(file.descriptor)
        guard reading >= 0 else { throw .last("open again", file.path) }
        return reading
    }
}

/// The words of a mapped file: the one owner of the mapping.
///
/// A word beyond the end of the file is no memory: touching it ends the process. So the file's
/// length is looked at before.
struct PageMapping: ~Copyable {
    private let base: UnsafeMutablePointer<UInt64>
    private let words: Int

    /// Takes over what mmap(2) gave, which begins at a page of memory and so is aligned.
    init(owning address: UnsafeMutableRawPointer, words: Int) {
        base = address.bindMemory(to: UInt64.self, capacity: words)
        self.words = words
    }

    deinit {
        munmap(base, words * MemoryLayout<UInt64>.size)
    }

    /// A word, loaded with acquire order.
    func load(_ word: Int) -> UInt64 {
        clinux_load_acquire(pointer(to: word))
    }

    /// Raises a word with release order; one that is as high already stays.
    func raise(_ word: Int, to value: UInt64) {
        clinux_raise_release(pointer(to: word), value)
    }

    private func pointer(to word: Int) -> UnsafeMutablePointer<UInt64> {
        precondition(0..<words ~= word, "a page has words 0 to its number only")
        return base + word
    }
}
