import CDBus

/// How the connection comes to be.
extension Link {
    static func open(_ address: Address) throws(DBusError) -> OpaquePointer {
        // Sockets are written to with MSG_NOSIGNAL. libdbus would also ignore SIGPIPE for the whole
        // process, and for its children, which is for the program to decide.
        dbus_connection_set_change_sigpipe(0)
        let opened =
            switch address {
            case .session: try checkError { dbus_bus_get_private(DBUS_BUS_SESSION, $0) }
            case .system: try checkError { dbus_bus_get_private(DBUS_BUS_SYSTEM, $0) }
            case .address(let text): try register(open(at: text))
            case .peer(let text): try open(at: text)
            }
        guard let opened else { throw .noMemory }
        // dbus_bus_get_private makes the process exit with the bus. That is not a library's to do.
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }

    private static func open(at address: String) throws(DBusError) -> OpaquePointer {
        // libdbus would read up to the NUL and connect to somewhere else than was asked for.
        guard !address.utf8.contains(0) else { throw .nulInString }
        let opened = try checkError { dbus_connection_open_private(address, $0) }
        guard let opened else { throw .noMemory }
        return opened
    }

    /// Greets the bus; where that fails the connection is closed.
    private static func register(_ opened: OpaquePointer) throws(DBusError) -> OpaquePointer {
        do {
            _ = try checkError { dbus_bus_register(opened, $0) }
            return opened
        } catch {
            dbus_connection_close(opened)
            dbus_connection_unref(opened)
            throw error
        }
    }

    /// The name that the bus has given the connection in answer to libdbus's own greeting.
    var uniqueName: BusName? {
        dbus_bus_get_unique_name(connection).map { BusName(checked: String(cString: $0)) }
    }

    /// Whether the other end has authenticated; also true when the connection has ended since.
    var isAuthenticated: Bool { dbus_connection_get_is_authenticated(connection) != 0 }

    var isConnected: Bool { !isLost && dbus_connection_get_is_connected(connection) != 0 }
}
