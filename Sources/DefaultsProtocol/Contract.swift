public import DBus

/// The names that the D-Bus contract fixes.
///
/// The whole contract, with the meaning of each call, is the file `org.defaultsd.Defaults1.xml`
/// beside this one, which is installed for other programs too.
public enum Contract {
    /// The well-known name of the service on the session bus.
    public static let busName: BusName = "org.defaultsd.Defaults1"

    /// The one object of the service.
    public static let objectPath: ObjectPath = "/org/defaultsd/Defaults1"

    /// The interface of that object.
    public static let interface: InterfaceName = "org.defaultsd.Defaults1"
}
