import Glibc

/// Where a bus is, or a peer without one.
public enum Address: Sendable, Hashable {
    /// The bus of the user's session, by `DBUS_SESSION_BUS_ADDRESS` or its standard place.
    case session
    /// The bus of the machine.
    case system
    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
    /// A peer without a bus between, by its address, such as
    /// `unixexec:path=/usr/bin/defaultsd,argv1=--peer,argv2=0`, which starts a program with one end
    /// of a socket pair as its standard input.
    case peer(String)

    var isPeer: Bool {
        if case .peer = self { true } else { false }
    }

    /// The address of the bus of the machine: by `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known one.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-types-system
    public static var systemBus: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
            ?? "unix:path=/var/run/dbus/system_bus_socket"
    }
}
