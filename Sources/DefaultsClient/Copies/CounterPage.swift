import DBus
import DefaultsTerms
import Glibc
import Synchronization
import SystemCalls

/// The page of counters, which shows whether copies are current.
///
/// The contract describes it at `Attach`.
final class CounterPage: Sendable {
    private typealias Layout = CounterPageLayout

    // It is only read, as atomic words, so all threads may use it.
    private nonisolated(unsafe) let base: UnsafeRawPointer
    private let size: Int

    /// Maps a page; nil if this version does not know its format.
    init?(_ file: FileDescriptor) {
        let size = lseek(file.number, 0, SEEK_END)
        guard size >= off_t(Layout.offset(of: Layout.firstSlot)), let size = Int(exactly: size)
        else { return nil }
        guard let base = mmap(nil, size, PROT_READ, MAP_SHARED, file.number, 0), base != MAP_FAILED
        else { return nil }
        self.base = UnsafeRawPointer(base)
        self.size = size
        guard word(Layout.formatWord) == Layout.format,
            word(Layout.slotCountWord) <= UInt64(size / Layout.wordSize - Layout.firstSlot)
        else { return nil }
    }

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: base), size)
    }

    /// Whether the page is void: it is not updated any more, and there is another one.
    var isVoid: Bool { word(Layout.generationWord) == Layout.void }

    private func word(_ number: Int) -> UInt64 {
        base.load(fromByteOffset: Layout.offset(of: number), as: UInt64.self)
    }

    /// The counter in a word of the page, as `Attach` numbers it; nil if there is none.
    func counter(atWord slot: UInt32) -> Counter? {
        let offset = Layout.offset(of: Int(slot))
        guard Int(slot) >= Layout.firstSlot, offset + Layout.wordSize <= size else { return nil }
        return Counter(page: self, word: base + offset)
    }
}

/// A word of a page, and the page that it is on.
struct Counter: Sendable {
    /// The address of the word, valid as long as the page is mapped.
    typealias Word = UnsafePointer<Atomic<UInt64>>

    private let page: CounterPage
    nonisolated(unsafe) let word: Word

    fileprivate init(page: CounterPage, word: UnsafeRawPointer) {
        self.page = page
        self.word = word.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// The generation of the last change to any domain of the slot.
    var value: UInt64 { Self.value(of: word) }

    static func value(of word: Word) -> UInt64 { word.pointee.load(ordering: .acquiring) }
}
