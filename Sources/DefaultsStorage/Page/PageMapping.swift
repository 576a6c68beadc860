internal import CLinux
internal import Glibc

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
