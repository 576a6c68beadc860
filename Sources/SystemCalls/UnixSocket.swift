internal import CLinux
package import Glibc

/// The address of a Unix socket: a file, or a name in the abstract namespace.
///
/// See [unix(7)](https://man7.org/linux/man-pages/man7/unix.7.html).
package struct UnixSocketAddress {
    /// The path, or the abstract name after an `@`.
    package let name: String
    private var address = sockaddr_un()
    private let size: socklen_t

    /// The address of a file; nil if the path is too long (above 107 bytes) or empty.
    package init?(path: String) {
        self.init(path, bytes: Array(path.utf8) + [0])
    }

    /// An address in the abstract namespace; nil if the name is too long.
    package init?(abstract name: String) {
        self.init("@\(name)", bytes: [0] + name.utf8)
    }

    private init?(_ name: String, bytes: [UInt8]) {
        guard bytes.count > 1, bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        self.name = name
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

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

    /// The socket API takes addresses of all families as the generic type.
    package func withPointer<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }
}

/// Unix stream sockets, and those that keep the bounds of messages.
package enum UnixSocket {
    /// Connects at once, or not at all.
    ///
    /// - Parameter keepsBounds: Whether the socket keeps the bounds of messages.
    /// - Returns: A socket that does not block.
    /// - Throws: ``SystemError``. With `EAGAIN` the queue of the listening socket is full. Nothing
    ///   tells when there is room again.
    package static func connect(
        to address: UnixSocketAddress, keepingBounds keepsBounds: Bool = false
    ) throws(SystemError) -> FileDescriptor {
        let socket = try make(for: address, keepingBounds: keepsBounds)
        guard address.withPointer({ Glibc.connect(socket.number, $0, $1) }) == 0 else {
            throw .last("connect to", address.name)
        }
        return socket
    }

    /// Makes a socket that listens at an address, which must be free.
    ///
    /// - Returns: A socket that does not block. Of a file, only its owner may connect.
    /// - Throws: ``SystemError``.
    package static func listen(
        at address: UnixSocketAddress
    ) throws(SystemError) -> FileDescriptor {
        let socket = try make(for: address)
        // The mode of the socket before bind(2) is that of the file.
        guard fchmod(socket.number, 0o600) == 0,
            address.withPointer({ bind(socket.number, $0, $1) }) == 0,
            Glibc.listen(socket.number, SOMAXCONN) == 0
        else { throw .last("listen at", address.name) }
        return socket
    }

    /// Whether a socket listens at a path, without connecting to it.
    ///
    /// A connection could start a service.
    package static func isListening(at path: String) -> Bool {
        guard let file = try? File("/proc/net/unix", O_RDONLY),
            let table = try? file.contents(atMost: 64 << 20)
        else { return false }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").contains { line in
            // Number, references, protocol, flags, type, state, inode, path. The flag is that of
            // listen(2).
            let fields = line.split(separator: " ", maxSplits: 7)
            return fields.count == 8 && fields[7] == path && fields[3] == "00010000"
        }
    }

    /// The user of the process at the other end; nil if that is no Unix socket.
    package static func owner(ofPeerAt socket: FileDescriptor) -> uid_t? {
        // The kernel's struct ucred, which the C library declares only for _GNU_SOURCE.
        var credentials = (process: pid_t(0), user: uid_t(0), group: gid_t(0))
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        let code = getsockopt(socket.number, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
        return code == 0 && size == MemoryLayout.size(ofValue: credentials) ? credentials.user : nil
    }

    private static func make(
        for address: UnixSocketAddress, keepingBounds keepsBounds: Bool = false
    ) throws(SystemError) -> FileDescriptor {
        let form = keepsBounds ? SOCK_SEQPACKET : SOCK_STREAM
        let kind = form.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = socket(AF_UNIX, Int32(kind), 0)
        guard number >= 0 else { throw .last("make a socket for", address.name) }
        return FileDescriptor(owning: number)
    }
}
