import DBus

/// Where a bus is.
public enum BusAddress: Sendable, Hashable {
    /// The bus of the user's session, by `DBUS_SESSION_BUS_ADDRESS` or its standard place.
    case session
    /// A bus by its address, such as `unix:path=/run/user/1000/bus`.
    case address(String)

    var address: Address {
        switch self {
        case .session: .session
        case .address(let address): .address(address)
        }
    }
}
