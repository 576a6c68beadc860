/// Names a replica: one database that roams, wherever it is.
///
/// It is random, so that no two are the same: 16 bytes, written as a UUID of version 4 in lower case.
package struct ReplicaID: Sendable, Hashable {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// A new name.
    package static func random() -> ReplicaID {
        var generator = SystemRandomNumberGenerator()
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return ReplicaID(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The name that 16 bytes are; nil for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// The name that a text in the form of a UUID is; nil for any other text.
    package init?(_ text: some StringProtocol) {
        var (bytes, high): ([UInt8], UInt8?) = ([], nil)
        var position = 0
        for character in text.utf8 {
            defer { position += 1 }
            if Self.hyphens.contains(position) {
                guard character == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard position == Self.length else { return nil }
        self.init(bytes: bytes)
    }

    /// Where the hyphens are in the form of a UUID, and how long it is.
    private static let hyphens = [8, 13, 18, 23]
    private static let length = 36

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension ReplicaID: CustomStringConvertible {
    /// The UUID in lower case.
    package var description: String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            .map { bytes[$0].hexadecimal }.joined(separator: "-")
    }
}

extension Sequence<UInt8> {
    /// Two digits for each byte, in lower case.
    package var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension ReplicaID: Comparable {
    /// By their bytes, which decides between two edits of the same time.
    package static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
