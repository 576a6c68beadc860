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
    /// The bus with this address, of whose places only Unix sockets count: a place of another kind
    /// may start a program, and the address comes from somebody else.
    case socket(String)
    /// A peer without a bus, by its address.
    ///
    /// For example, `unixexec:path=/usr/bin/defaultsd,argv1=--peer,argv2=0` starts a program with
    /// one end of a socket pair as its standard input.
    case peer(String)

    var isPeer: Bool {
        if case .peer = self { true } else { false }
    }

    /// Whether only Unix sockets count.
    var isSocket: Bool {
        if case .socket = self { true } else { false }
    }

    /// The address in the form of D-Bus.
    var text: String {
        switch self {
        case .session: Self.session(variable: Self.variable)
        case .system: Self.systemBus
        case .address(let text), .socket(let text), .peer(let text): text
        }
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
        variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/var/run/dbus/system_bus_socket"
    }
}

/// Where the bus of the session is.
extension Address {
    /// The address that libdbus uses: that of the environment, or the socket in the runtime
    /// directory, or the bus that belongs to the display of X11.
    static func session(variable: (String) -> String?) -> String {
        if let given = variable("DBUS_SESSION_BUS_ADDRESS") { return given }
        if let directory = variable("XDG_RUNTIME_DIR"), isOwnSocket("\(directory)/bus") {
            return "unix:path=\(escaped("\(directory)/bus"))"
        }
        return "autolaunch:"
    }

    private static func isOwnSocket(_ path: String) -> Bool {
        let status = FileStatus.ifAny(path, followingLinks: false)
        return status?.kind == .socket && status?.owner == geteuid()
    }

    /// A variable of the environment that is not empty.
    ///
    /// - Returns: Nil in a program that has more rights than its caller, who chose the environment.
    private static func variable(_ name: String) -> String? {
        guard getauxval(UInt(AT_SECURE)) == 0 else { return nil }
        return getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
