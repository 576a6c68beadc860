import CDBus
import Glibc
import SystemCalls

/// Connects to a place without waiting.
extension Link {
    // To connect a socket, libdbus waits until the other end has room for it. So libdbus gets a
    // socket that is already connected in place of its own.

    /// Makes a connection over a socket that is connected to a place.
    ///
    /// The first call must greet the bus, if it is one.
    ///
    /// - Throws: ``DBusError`` if the process may not listen at a socket, or lacks descriptors.
    convenience init(
        over socket: FileDescriptor, to place: Place, isDirect: Bool, on loop: EventLoop
    ) throws(DBusError) {
        dbus_connection_set_change_sigpipe(0)
        self.init(
            owning: try Self.client(over: socket.number, of: place.server), isDirect: isDirect,
            on: loop)
    }

    /// A client's connection over this socket.
    ///
    /// The caller owns it.
    ///
    /// - Parameter server: The identifier that the server must have; nil for any server.
    static func client(
        over socket: Int32, of server: String? = nil
    ) throws(DBusError) -> OpaquePointer {
        let opened = try unacceptedClient(of: server)
        do {
            try replaceSocket(of: opened, by: socket)
        } catch {
            dbus_connection_close(opened)
            dbus_connection_unref(opened)
            throw error
        }
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }

    /// A client's connection that nobody accepts, to a socket of this process.
    private static func unacceptedClient(of server: String?) throws(DBusError) -> OpaquePointer {
        // It is abstract, so it needs no writable directory and leaves no file.
        let name = "dbus-client-\(String(UInt64.random(in: .min ... .max), radix: 16))"
        guard let address = UnixSocketAddress(abstract: name) else { throw .noMemory }
        let listener: FileDescriptor
        do throws(SystemError) {
            listener = try UnixSocket.listen(at: address)
        } catch {
            throw .systemCall("Listening at @\(name)", error: error.number)
        }
        let expected = server.map { ",guid=\(Address.escaped($0))" } ?? ""
        return try withExtendedLifetime(listener) { () throws(DBusError) in
            try open(waitingAt: "unix:abstract=\(name)\(expected)")
        }
    }
}

/// Connects to a place as libdbus does it.
extension Link {
    /// Opens a connection to a place of any kind, and waits as long as that takes.
    ///
    /// libdbus holds no lock meanwhile. No bus is greeted. The caller owns the connection.
    static func open(waitingAt address: String) throws(DBusError) -> OpaquePointer {
        // Sockets are written to with MSG_NOSIGNAL. libdbus would ignore SIGPIPE for the whole
        // process and its children, but that is the program's decision.
        dbus_connection_set_change_sigpipe(0)
        let opened = try checkError { dbus_connection_open_private(address, $0) }
        guard let opened else { throw .noMemory }
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }
}

extension Link {
    /// Whether the other end has authenticated.
    ///
    /// Also true if the connection has ended since.
    var isAuthenticated: Bool { dbus_connection_get_is_authenticated(connection) != 0 }

    var isConnected: Bool { !isLost && dbus_connection_get_is_connected(connection) != 0 }
}
