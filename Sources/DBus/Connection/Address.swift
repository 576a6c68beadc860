/// Where a bus is.
public enum Address: Sendable, Hashable {
    /// The bus of the user's session, by `DBUS_SESSION_BUS_ADDRESS` or its standard place.
    case session
    /// The bus of the machine.
    case system
    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
}
