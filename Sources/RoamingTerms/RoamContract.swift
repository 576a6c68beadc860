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
    /// Finds or makes the key of an encrypted place, and makes a round.
    ///
    /// The arguments are the passphrase, and whether to make a key if the place has none.
    package static let encrypt: MemberName = "Encrypt"
    /// Wraps the key of an encrypted place by another passphrase, and makes a round.
    package static let changePassphrase: MemberName = "ChangePassphrase"
    /// The name of the error of a round that was interrupted.
    package static let failed: ErrorName = "org.defaultsd.Roam1.Error.Failed"
    /// The name of the error if the place has no key, and none was to be made.
    package static let noKey: ErrorName = "org.defaultsd.Roam1.Error.NoKey"
}
