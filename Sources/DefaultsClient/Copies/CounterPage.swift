import DBus
import Glibc
import Synchronization

/// The counters by which a process sees that its copies are current, mapped as the contract says at
/// `Attach`.
final class CounterPage: @unchecked Sendable {
    // Only read here, and only as atomic words.
    private let base: UnsafeRawPointer
    private let size: Int

    /// Words before the slots.
    private static let header = 16

    /// Maps a page; nil where it is none that this version knows.
    init?(_ file: FileDescriptor) {
        let size = lseek(file.number, 0, SEEK_END)
        let word = MemoryLayout<UInt64>.size
        guard size >= off_t(Self.header * word), let size = Int(exactly: size) else { return nil }
        guard let base = mmap(nil, size, PROT_READ, MAP_SHARED, file.number, 0), base != MAP_FAILED
        else { return nil }
        self.base = UnsafeRawPointer(base)
        self.size = size
        let slots = self.base.load(fromByteOffset: word, as: UInt64.self)
        guard self.base.load(as: UInt64.self) == 1, slots <= UInt64(size / word - Self.header)
        else {
            return nil
        }
    }

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: base), size)
    }

    /// Whether the page has been given up, and tells of nothing any more: there is another one.
    var isVoid: Bool { base.load(fromByteOffset: 16, as: UInt64.self) == .max }

    /// The counter that is a word of the page, as `Attach` numbers it; nil where there is none.
    func counter(atWord slot: UInt32) -> Counter? {
        let offset = Int(slot) * MemoryLayout<UInt64>.size
        guard Int(slot) >= Self.header, offset + MemoryLayout<UInt64>.size <= size else {
            return nil
        }
        return Counter(page: self, word: base + offset)
    }
}

/// A word of a page, and the page that it is on.
struct Counter {
    /// Where the word is, as long as the page lives.
    typealias Word = UnsafePointer<Atomic<UInt64>>

    private let page: CounterPage
    let word: Word

    fileprivate init(page: CounterPage, word: UnsafeRawPointer) {
        self.page = page
        self.word = word.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// The generation of the last change to any domain of the slot.
    var value: UInt64 { Self.value(of: word) }

    static func value(of word: Word) -> UInt64 { word.pointee.load(ordering: .acquiring) }
}
