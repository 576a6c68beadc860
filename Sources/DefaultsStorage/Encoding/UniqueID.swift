internal import Glibc
internal import SystemCalls

/// 16 bytes that identify one database, or one boot of the machine.
struct UniqueID: Hashable, Sendable, CustomStringConvertible {
    static let length = 16

    let bytes: [UInt8]

    /// Takes the bytes of one; nil if there are not 16.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == UniqueID.length else { return nil }
        self.bytes = bytes
    }

    private init(random generator: inout SystemRandomNumberGenerator) {
        bytes = (0..<UniqueID.length).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// A new one.
    static func random() -> UniqueID {
        var generator = SystemRandomNumberGenerator()
        return UniqueID(random: &generator)
    }

    /// Reads the usual spelling, 32 hexadecimal digits with or without hyphens.
    init?(spelling: some StringProtocol) {
        let digits = spelling.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 2 * UniqueID.length else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        self.init(bytes)
    }

    /// 32 hexadecimal digits.
    var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension UniqueID {
    /// The identity of this boot of the machine, which Linux makes new each time.
    ///
    /// See [boot_id](https://www.kernel.org/doc/html/latest/admin-guide/sysctl/kernel.html#random).
    /// If it cannot be read, every start counts as the first of its boot, which is safe.
    static func ofThisBoot() -> UniqueID {
        guard let file = try? File("/proc/sys/kernel/random/boot_id", O_RDONLY),
            let bytes = try? file.read(64, at: 0),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first
        else { return .random() }
        return UniqueID(spelling: line) ?? .random()
    }
}
