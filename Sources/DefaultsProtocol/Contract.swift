package import DBus

/// The names that the D-Bus contract fixes.
///
/// The whole contract, with the meaning of each call, is the file `org.defaultsd.Defaults1.xml`
/// beside this one, which is installed for other programs too.
package enum Contract {
    /// The well-known name of the service on the session bus.
    package static let busName: BusName = "org.defaultsd.Defaults1"

    /// The one object of the service.
    package static let objectPath: ObjectPath = "/org/defaultsd/Defaults1"

    /// The interface of that object.
    package static let interface: InterfaceName = "org.defaultsd.Defaults1"
}
