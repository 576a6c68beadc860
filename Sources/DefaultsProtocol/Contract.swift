package import DBus

/// The names in the D-Bus contract.
///
/// The file `org.defaultsd.Defaults1.xml` in this folder is the whole contract. It describes each
/// call, and is installed for other programs.
package enum Contract {
    /// The well-known name of the service on the session bus.
    package static let busName: BusName = "org.defaultsd.Defaults1"

    /// The only object of the service.
    package static let objectPath: ObjectPath = "/org/defaultsd/Defaults1"

    /// The interface of that object.
    package static let interface: InterfaceName = "org.defaultsd.Defaults1"
}
