/// Numbers and texts as bytes, for two processes of the same program.
package struct Parcel: Sendable {
    /// What was put in and not taken out.
    package private(set) var bytes: [UInt8]

    /// Takes what was received.
    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// Adds a number.
    package mutating func put(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    /// Adds a text.
    package mutating func put(_ text: String) {
        put(UInt64(text.utf8.count))
        bytes += text.utf8
    }

    /// Takes the next number out; nil if there is none.
    package mutating func takeNumber() -> UInt64? {
        let size = MemoryLayout<UInt64>.size
        guard bytes.count >= size else { return nil }
        let number = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        bytes.removeFirst(size)
        return UInt64(littleEndian: number)
    }

    /// Takes the next text out; nil if there is none.
    package mutating func takeText() -> String? {
        guard let size = takeNumber(), size <= UInt64(bytes.count) else { return nil }
        let text = String(validating: bytes.prefix(Int(size)), as: UTF8.self)
        bytes.removeFirst(Int(size))
        return text
    }
}
