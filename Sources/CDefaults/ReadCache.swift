import DefaultsClient
import Glibc

// Invariants
//
// 1. While `freshness` holds, a name that is here has the value that a read would return.
// 2. A slot owns the bytes of its name.

/// The bytes of the name of a key, for as long as a call goes on.
struct NameBytes: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }
}

/// The values that were read last by a handle, by the bytes of their names.
///
/// A read that finds its value here makes no string of the name and takes no lock of the client.
struct ReadCache: ~Copyable {
    private struct Slot {
        var name: UnsafeMutableRawBufferPointer?
        /// The value; nil if there is none.
        var value: StoredValue?
    }

    /// A power of two.
    private static var count: Int { 128 }
    /// A larger value is not kept, so that closing a handle is not needed to free memory.
    private static var largestValue: Int { 4096 }

    private let slots: UnsafeMutablePointer<Slot>
    private var freshness: Freshness?

    init() {
        slots = .allocate(capacity: Self.count)
        slots.initialize(repeating: Slot(), count: Self.count)
    }

    deinit {
        for place in 0..<Self.count { slots[place].name?.deallocate() }
        slots.deinitialize(count: Self.count)
        slots.deallocate()
    }

    /// Gives the value of a name to a closure.
    ///
    /// - Returns: Nil if the value is not here. Otherwise what the closure returns, which is given nil if
    ///   there is no value.
    @inline(__always)
    func withValue<Result>(
        of name: NameBytes, in defaults: NamedDefaults,
        _ body: (borrowing StoredValue?) -> Result
    ) -> Result? {
        guard let freshness, defaults.holds(freshness) else { return nil }
        let name = name.bytes
        let slot = slots + Self.place(of: name)
        guard let kept = slot.pointee.name, kept.count == name.count,
            let start = kept.baseAddress, let other = name.baseAddress,
            memcmp(start, other, name.count) == 0
        else { return nil }
        return body(slot.pointee.value)
    }

    /// Takes a value that was read after a freshness was taken.
    mutating func put(
        _ value: StoredValue?, for name: NameBytes, _ freshness: Freshness
    ) {
        guard (value?.size ?? 0) <= Self.largestValue else { return }
        if self.freshness?.isSame(as: freshness) != true { removeAll() }
        self.freshness = freshness
        let name = name.bytes
        let slot = slots + Self.place(of: name)
        slot.pointee.name?.deallocate()
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: name.count, alignment: 1)
        kept.copyMemory(from: name)
        slot.pointee = Slot(name: kept, value: value)
    }

    private mutating func removeAll() {
        for place in 0..<Self.count where slots[place].name != nil {
            slots[place].name?.deallocate()
            slots[place] = Slot()
        }
    }

    /// Mixes the length with the first and the last bytes, in which most names differ.
    @inline(__always)
    private static func place(of name: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(truncatingIfNeeded: name.count)
        if name.count >= 8 {
            hash ^= name.loadUnaligned(as: UInt64.self)
            hash = hash &* 0x9e37_79b9_7f4a_7c15
            hash ^= name.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self)
        } else {
            for byte in name { hash = hash << 8 ^ hash >> 56 ^ UInt64(byte) }
        }
        hash = hash &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: hash >> 40) & (count - 1)
    }
}

extension StoredValue {
    /// The bytes that it needs beside itself.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .word: .max
        case .bool, .integer, .real, .other: 0
        }
    }
}
