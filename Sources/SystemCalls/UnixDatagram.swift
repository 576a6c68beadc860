internal import CLinux
internal import Glibc

extension UnixSocketAddress {
    /// Sends a datagram to the socket at this address.
    ///
    /// - Parameters:
    ///   - bytes: The datagram.
    ///   - descriptor: A descriptor to send with it; -1 for none.
    ///   - waits: Whether to wait while the receiver's queue is full.
    /// - Returns: Whether it was sent.
    package func send(_ bytes: [UInt8], with descriptor: Int32 = -1, waiting waits: Bool) -> Bool {
        let blocking = waits ? 0 : Int32(SOCK_NONBLOCK.rawValue)
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue) | blocking
        let socket = socket(AF_UNIX, kind, 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        return withPointer { clinux_send(socket, $0, $1, bytes, bytes.count, descriptor) }
            == bytes.count
    }
}
