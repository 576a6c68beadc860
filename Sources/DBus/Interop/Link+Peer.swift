import CDBus
import CLinux
import Glibc
import SystemCalls

// Invariants
//
// 1. Nothing is read from or written to the socket of the scratch server before the peer's socket
//    has taken its number. So no other process can ever talk to the connection.
// 2. From then on, libdbus handles the peer's socket, including authentication and descriptors.

/// Connects to a peer over a socket that is already connected.
extension Link {
    // libdbus makes such a connection only for a client of its own server. So a scratch server
    // makes one, and dup3 puts the peer's socket under the number of its socket.
    static func open(serving socket: FileDescriptor) throws(DBusError) -> OpaquePointer {
        try checkPeer(of: socket.number)
        dbus_connection_set_change_sigpipe(0)
        let opened = try ScratchServer().makeConnection()
        do {
            try replaceSocket(of: opened, by: socket.number)
        } catch {
            dbus_connection_close(opened)
            dbus_connection_unref(opened)
            throw error
        }
        // Holding the other end of the socket is the permission.
        dbus_connection_set_unix_user_function(opened, { _, _, _ in 1 }, nil, nil)
        dbus_connection_set_allow_anonymous(opened, 1)
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }

    /// Does the same for the side that makes calls, and authenticates as a client.
    static func open(calling socket: FileDescriptor) throws(DBusError) -> OpaquePointer {
        try checkPeer(of: socket.number)
        dbus_connection_set_change_sigpipe(0)
        return try client(over: socket.number)
    }

    /// The credentials that the kernel has recorded for the other end of a Unix socket.
    ///
    /// - Parameter examiner: Finds out who the process is.
    func socketCredentials(by examiner: ProcessExaminer) -> PeerCredentials? {
        var descriptor: Int32 = -1
        guard dbus_connection_get_socket(connection, &descriptor) != 0 else { return nil }
        // The kernel's struct ucred, which the C library declares only for _GNU_SOURCE.
        var credentials = (process: Int32(0), user: UInt32(0), group: UInt32(0))
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
            return nil
        }
        // Process 0 is a process without a number in our PID namespace.
        let process = credentials.process > 0 ? UInt32(credentials.process) : nil
        let reference = Self.peerReference(of: descriptor)
        let examined = process.flatMap { examiner.examine($0, reference: reference) }
        return PeerCredentials(
            userID: credentials.user, processID: process, place: examined?.place,
            flatpak: examined?.flatpak)
    }

    /// A reference to the process that connected.
    ///
    /// Linux 6.5 and later provide it.
    private static func peerReference(of socket: Int32) -> FileDescriptor? {
        // SO_PEERPIDFD, which the C library does not define yet.
        guard let descriptor = option(77, of: socket), descriptor >= 0 else { return nil }
        return FileDescriptor(owning: descriptor)
    }

    /// The path of the other end's socket; nil if it has none.
    var peerPath: String? {
        var descriptor: Int32 = -1
        guard dbus_connection_get_socket(connection, &descriptor) != 0 else { return nil }
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getpeername(descriptor, $0, &size)
            }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let path = withUnsafeBytes(of: address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return path.hasPrefix("/") ? path : nil
    }

    private static func checkPeer(of descriptor: Int32) throws(DBusError) {
        guard let domain = option(SO_DOMAIN, of: descriptor),
            let type = option(SO_TYPE, of: descriptor)
        else { throw .notAPeer(descriptor, because: SystemError.words(for: errno)) }
        guard domain == AF_UNIX, type == Int32(SOCK_STREAM.rawValue) else {
            throw .notAPeer(descriptor, because: "it is a socket of another kind")
        }
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            getpeername(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard result == 0 else {
            throw .notAPeer(descriptor, because: SystemError.words(for: errno))
        }
    }

    static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let result = getsockopt(descriptor, SOL_SOCKET, option, &value, &size)
        return result == 0 ? value : nil
    }

    static func replaceSocket(
        of opened: OpaquePointer, by socket: Int32
    ) throws(DBusError) {
        var number: Int32 = -1
        guard dbus_connection_get_socket(opened, &number) != 0 else { throw .disconnected }
        let flags = fcntl(socket, F_GETFL)
        guard flags >= 0, fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0,
            clinux_dup3(socket, number) == number
        else { throw .systemCall("Taking over descriptor \(socket)", error: errno) }
    }
}

/// A server of libdbus that is used to make one connection.
///
/// Its address is abstract, so it needs no writable directory and leaves no file.
struct ScratchServer: ~Copyable {
    private let server: OpaquePointer
    private let address: String
    private let visitor = Visitor()

    /// What libdbus's callbacks report.
    private final class Visitor {
        var watch: OpaquePointer?
        var connection: OpaquePointer?

        static func from(_ context: UnsafeMutableRawPointer?) -> Visitor? {
            context.map { Unmanaged<Visitor>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    init() throws(DBusError) {
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        let address = "unix:abstract=dbus-peer-\(name)"
        let server = try checkError { dbus_server_listen(address, $0) }
        guard let server else { throw .noMemory }
        (self.server, self.address) = (server, address)
    }

    deinit {
        dbus_server_disconnect(server)
        dbus_server_unref(server)
    }

    /// Connects to the server, and returns the server's side of that connection.
    ///
    /// The caller owns it.
    consuming func makeConnection() throws(DBusError) -> OpaquePointer {
        let context = Unmanaged.passUnretained(visitor).toOpaque()
        dbus_server_set_new_connection_function(
            server,
            { _, connection, context in
                Visitor.from(context)?.connection = connection.map { dbus_connection_ref($0) }
            }, context, nil)
        try checkMemory(
            dbus_server_set_watch_functions(
                server,
                { watch, context in
                    Visitor.from(context)?.watch = watch
                    return 1
                }, { _, _ in }, nil, context, nil))
        try visit()
        guard let connection = visitor.connection else { throw .noMemory }
        return connection
    }

    private func visit() throws(DBusError) {
        let visit = try Link.open(waitingAt: address)
        // The other side of the connection ends here too. Nothing was read or written.
        dbus_watch_handle(visitor.watch, DBUS_WATCH_READABLE.rawValue)
        dbus_connection_close(visit)
        dbus_connection_unref(visit)
    }
}
