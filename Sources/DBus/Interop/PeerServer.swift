import CDBus
import CLinux
import Glibc
import SystemCalls

// Invariants
//
// 1. Nobody is accepted who connected to the server's own address: our listening socket takes its
//    number before the first accept.
// 2. libdbus accepts and authenticates. A peer must be of this process's user.

/// A server of libdbus that accepts peers on a socket which listens already.
///
/// libdbus opens such sockets only by an address, or takes all that a service manager has passed.
/// So a server is made for a scratch address, and dup3 puts the listening socket under its number.
///
/// It belongs to the loop's thread.
final class PeerServer {
    private let loop: EventLoop
    private let socket: FileDescriptor
    private let server: OpaquePointer
    private var watches: [OpaquePointer: EventLoop.Watch] = [:]
    private var failure: DBusError?
    private var isAccepted = false

    /// Called with each accepted connection, which the callee owns.
    var accepted: ((OpaquePointer) -> Void)?

    /// How long the server waits after the system had no descriptor for a new peer.
    private static let pause = Duration.milliseconds(100)

    /// Begins to accept.
    ///
    /// - Parameter socket: A listening Unix stream socket. The server uses a duplicate.
    /// - Throws: ``DBusError`` with the name `InvalidArgs` if it is not such a socket.
    init(on socket: FileDescriptor, loop: EventLoop) throws(DBusError) {
        loop.preconditionOnLoop("a server was opened")
        guard Link.option(SO_DOMAIN, of: socket.number) == AF_UNIX,
            Link.option(SO_TYPE, of: socket.number) == Int32(SOCK_STREAM.rawValue),
            Link.option(SO_ACCEPTCONN, of: socket.number) == 1
        else { throw .notListening(socket.number) }
        dbus_connection_set_change_sigpipe(0)
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        let server = try checkError { dbus_server_listen("unix:abstract=dbus-server-\(name)", $0) }
        guard let server else { throw .noMemory }
        (self.loop, self.socket, self.server) = (loop, socket, server)
        try start()
    }

    private func start() throws(DBusError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let areSet = "EXTERNAL".withCString { name in
            var mechanisms = [Optional(name), nil]
            return dbus_server_set_auth_mechanisms(server, &mechanisms)
        }
        try checkMemory(areSet)
        dbus_server_set_new_connection_function(
            server,
            { _, connection, context in
                guard let connection else { return }
                PeerServer.from(context).take(dbus_connection_ref(connection))
            }, context, nil)
        try checkMemory(
            dbus_server_set_watch_functions(
                server,
                { watch, context in PeerServer.from(context).add(watch) },
                { watch, context in PeerServer.from(context).remove(watch) },
                nil, context, nil))
        if let failure { throw failure }
    }

    deinit {
        close()
        dbus_server_unref(server)
    }

    /// Accepts nobody any more.
    ///
    /// The listening socket stays as it is.
    func close() {
        accepted = nil
        dbus_server_disconnect(server)
    }

    private func take(_ connection: OpaquePointer?) {
        guard let connection else { return }
        isAccepted = true
        guard let accepted else {
            dbus_connection_close(connection)
            return dbus_connection_unref(connection)
        }
        dbus_connection_set_unix_user_function(
            connection, { _, user, _ in user == geteuid() ? 1 : 0 }, nil, nil)
        accepted(connection)
    }

    private func add(_ watch: OpaquePointer?) -> dbus_bool_t {
        guard let watch else { return 0 }
        let number = dbus_watch_get_unix_fd(watch)
        let flags = fcntl(socket.number, F_GETFL)
        guard flags >= 0, fcntl(socket.number, F_SETFL, flags | O_NONBLOCK) == 0,
            clinux_dup3(socket.number, number) == number
        else {
            failure = .systemCall("Taking over descriptor \(socket.number)", error: errno)
            return 1
        }
        watches[watch] = loop.watch(number, for: .readable) { [unowned self] _ in accept(watch) }
        return 1
    }

    private func remove(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches.removeValue(forKey: watch)?.cancel()
    }

    /// Accepts one peer.
    ///
    /// libdbus does not say if the system has no descriptor for it.
    private func accept(_ watch: OpaquePointer) {
        isAccepted = false
        _ = dbus_watch_handle(watch, DBUS_WATCH_READABLE.rawValue)
        guard !isAccepted, let waiting = watches[watch] else { return }
        waiting.events = []
        // It is used on this thread.
        nonisolated(unsafe) let resumed = waiting
        loop.schedule(after: Self.pause) { resumed.events = .readable }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> PeerServer {
        guard let context else { preconditionFailure("libdbus lost the context of a callback.") }
        return Unmanaged<PeerServer>.fromOpaque(context).takeUnretainedValue()
    }
}
