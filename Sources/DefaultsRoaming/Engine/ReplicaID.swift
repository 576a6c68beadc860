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
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = groups.joined()
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard rest.first?.isHexDigit == true,
                let byte = UInt8(rest.prefix(2), radix: 16)
            else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self.init(bytes: bytes)
    }
}

extension ReplicaID: CustomStringConvertible {
    /// The UUID in lower case.
    package var description: String {
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            .map { digits[$0].joined() }.joined(separator: "-")
    }
}

extension ReplicaID: Comparable {
    /// By their bytes, which decides between two edits of the same time.
    package static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
