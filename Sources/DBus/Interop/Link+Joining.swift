import CDBus
import CLinux
import Glibc
import SystemCalls

/// The address of a bus, or of a peer without a bus.
package enum Address: Sendable, Hashable {
    /// The bus of the user's session: `DBUS_SESSION_BUS_ADDRESS`, or the standard address.
    case session
    /// The bus of the machine.
    case system
    /// The bus with this address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
    /// A peer without a bus, by its address.
    ///
    /// For example, `unixexec:path=/usr/bin/defaultsd,argv1=--peer,argv2=0` starts a program with
    /// one end of a socket pair as its standard input.
    case peer(String)

    var isPeer: Bool {
        if case .peer = self { true } else { false }
    }

    /// The address of the bus of the user's session, without the identifiers of servers.
    ///
    /// It is `DBUS_SESSION_BUS_ADDRESS`, or the standard place in the runtime directory. Two programs
    /// with the same address use the same bus.
    package static var ofSessionBus: String {
        let given = getenv("DBUS_SESSION_BUS_ADDRESS").map { String(cString: $0) } ?? ""
        guard given.isEmpty else { return withoutIdentifiers(given) }
        guard let directory = getenv("XDG_RUNTIME_DIR") else { return "" }
        return "unix:path=\(String(cString: directory))/bus"
    }

    /// A value in an address, with the escapes that it needs.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
    package static func escaped(_ value: String) -> String {
        guard let text = dbus_address_escape_value(value) else { return value }
        defer { dbus_free(text) }
        return String(cString: text)
    }

    /// An address without the identifiers of servers.
    package static func withoutIdentifiers(_ address: String) -> String {
        address.split(separator: ";").map { place in
            place.split(separator: ",").filter { !$0.hasPrefix("guid=") }.joined(separator: ",")
        }.joined(separator: ";")
    }

    /// The address of the bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, or the standard address.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-types-system
    package static var systemBus: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
            ?? "unix:path=/var/run/dbus/system_bus_socket"
    }
}

/// Opening a connection.
extension Link {
    static func open(_ address: Address) throws(DBusError) -> OpaquePointer {
        // Sockets are written to with MSG_NOSIGNAL. libdbus would ignore SIGPIPE for the whole
        // process and its children, but that is the program's decision.
        dbus_connection_set_change_sigpipe(0)
        let opened =
            switch address {
            case .session: try checkError { dbus_bus_get_private(DBUS_BUS_SESSION, $0) }
            case .system: try checkError { dbus_bus_get_private(DBUS_BUS_SYSTEM, $0) }
            case .address(let text): try register(open(at: text))
            case .peer(let text): try open(at: text)
            }
        guard let opened else { throw .noMemory }
        // dbus_bus_get_private makes the process exit with the bus. A library must not do that.
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }

    private static func open(at address: String) throws(DBusError) -> OpaquePointer {
        // libdbus would read up to the NUL, and connect to another address than the given one.
        guard !address.utf8.contains(0) else { throw .nulInString }
        let opened = try checkError { dbus_connection_open_private(address, $0) }
        guard let opened else { throw .noMemory }
        return opened
    }

    /// Greets the bus.
    ///
    /// If that fails, the connection is closed.
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

    /// The name that the bus gave the connection in its reply to libdbus's own greeting.
    var uniqueName: BusName? {
        dbus_bus_get_unique_name(connection).map { BusName(checked: String(cString: $0)) }
    }

    /// Whether the other end has authenticated.
    ///
    /// Also true if the connection has ended since.
    var isAuthenticated: Bool { dbus_connection_get_is_authenticated(connection) != 0 }

    var isConnected: Bool { !isLost && dbus_connection_get_is_connected(connection) != 0 }
}

/// Connects to a bus that may be slow or stopped, without waiting.
extension Link {
    // To connect a socket, libdbus waits until the other end accepts it. So libdbus gets a socket
    // that is already connected in place of its own, as for a peer.
    static func open(joining address: String) throws(DBusError) -> OpaquePointer {
        dbus_connection_set_change_sigpipe(0)
        let socket = try BusSocket.connect(to: address)
        return try client(over: socket.number)
    }
}

/// A socket that is connected to a bus at once, or not at all.
enum BusSocket {
    /// Connects to the first Unix socket of an address that accepts a connection now.
    ///
    /// - Throws: ``DBusError`` of the last attempt; with the name `InvalidArgs` if the address has
    ///   no Unix socket, or `BadAddress` if it is not an address.
    static func connect(to address: String) throws(DBusError) -> FileDescriptor {
        guard !address.utf8.contains(0) else { throw .nulInString }
        var entries: UnsafeMutablePointer<OpaquePointer?>?
        var count: Int32 = 0
        _ = try checkError { dbus_parse_address(address, &entries, &count, $0) }
        guard let entries else { throw .noMemory }
        defer { dbus_address_entries_free(entries) }
        var failure = DBusError.noUnixSocket(in: address)
        for entry in UnsafeBufferPointer(start: entries, count: Int(count)) {
            guard let place = UnixSocketAddress(entry) else { continue }
            do throws(SystemError) {
                return try UnixSocket.connect(to: place)
            } catch {
                failure = .systemCall("Connecting to \(place.name)", error: error.number)
            }
        }
        throw failure
    }
}

extension UnixSocketAddress {
    /// The place of an entry of an address of D-Bus; nil for other kinds of addresses, and for names
    /// that are too long.
    fileprivate init?(_ entry: OpaquePointer?) {
        guard let method = dbus_address_entry_get_method(entry), strcmp(method, "unix") == 0
        else { return nil }
        if let path = dbus_address_entry_get_value(entry, "path") {
            self.init(path: String(cString: path))
        } else if let abstract = dbus_address_entry_get_value(entry, "abstract") {
            self.init(abstract: String(cString: abstract))
        } else {
            return nil
        }
    }
}

/// The machine that the process runs on.
enum Machine {
    /// D-Bus's identifier of the machine: 32 hexadecimal digits.
    static func identifier() throws(DBusError) -> String {
        guard let text = try checkError({ dbus_try_get_local_machine_id($0) }) else {
            throw .noMemory
        }
        defer { dbus_free(text) }
        return String(cString: text)
    }
}
