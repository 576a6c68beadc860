import SystemCalls

/// Sends entries with fields to the journal.
///
/// The protocol is a datagram that systemd promises to keep stable. The daemon does not use libsystemd,
/// which would need memory in every user's session.
/// See <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>.
struct JournalSocket: Sendable {
    private let address: UnixSocketAddress

    /// The journal of the system; nil if the path is too long for a socket.
    init?(path: String = "/run/systemd/journal/socket") {
        guard let address = UnixSocketAddress(path: path) else { return nil }
        self.address = address
    }

    /// Sends an entry.
    ///
    /// This does not wait for a journal that hangs.
    ///
    /// - Returns: Whether the journal has taken it.
    func send(_ fields: [(name: String, value: String)]) -> Bool {
        address.send(Self.bytes(of: fields), waiting: false)
    }

    /// An entry in the form of the protocol.
    ///
    /// A value with a line break has its size before it: 64 bits, the lowest byte first.
    static func bytes(of fields: [(name: String, value: String)]) -> [UInt8] {
        let lineBreak = UInt8(ascii: "\n")
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += name.utf8
            if value.utf8.contains(lineBreak) {
                bytes.append(lineBreak)
                withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += value.utf8
            bytes.append(lineBreak)
        }
        return bytes
    }
}
