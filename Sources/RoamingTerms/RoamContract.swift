package import DBus

/// The interface of the roaming service on the bus, for the project's own tool.
package enum RoamContract {
    package static let busName: BusName = "org.defaultsd.Roam1"
    package static let path: ObjectPath = "/org/defaultsd/Roam1"
    package static let interface: InterfaceName = "org.defaultsd.Roam1"
    /// Replies with the state: names with values.
    package static let getStatus: MemberName = "GetStatus"
    /// Makes a round, and replies when it has ended; the error says what interrupted it.
    package static let roamNow: MemberName = "RoamNow"
    /// Lists the replicas: UUID, name, last time in seconds since 1970, and whether it is this one.
    package static let listMachines: MemberName = "ListMachines"
    /// Forgets a replica by its UUID.
    package static let forgetMachine: MemberName = "ForgetMachine"
    /// The name of the error of a round that was interrupted.
    package static let failed: ErrorName = "org.defaultsd.Roam1.Error.Failed"
}
