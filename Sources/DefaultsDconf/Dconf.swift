package import DBus

/// The interface of dconf's service, which programs call to change settings.
///
/// They read the settings from a file, so there is no call for that.
package enum Dconf {
    /// The name on the bus of the service.
    package static let busName: BusName = "ca.desrt.dconf"
    /// The object for the database of the user.
    ///
    /// dconf's own service has one for each file in its directory. Programs use another one only if a
    /// profile says so.
    package static let writer: ObjectPath = "/ca/desrt/dconf/Writer/user"
    /// The interface of that object.
    package static let interface: InterfaceName = "ca.desrt.dconf.Writer"
    /// The object that says who has changed settings.
    package static let information: ObjectPath = "/ca/desrt/dconf"
    /// The interface of that object.
    package static let informationInterface: InterfaceName = "ca.desrt.dconf.ServiceInfo"

    /// Settings have changed: a path, what follows it in the paths of the settings, and the tag of the
    /// call that has changed them.
    package static let notify = SignalDeclaration(
        "Notify",
        [Argument("prefix", "s"), Argument("changes", "as"), Argument("tag", "s")])

    /// Makes sure that there is a file.
    package static let initialize: MemberName = "Init"
    /// Changes settings.
    package static let change: MemberName = "Change"
    /// Says who has changed settings.
    package static let blame: MemberName = "Blame"

    /// What a call of `Change` has.
    package static let changeInput = [Argument("blob", "ay")]
    /// What its reply has: the tag of the signal.
    package static let changeOutput = [Argument("tag", "s")]
    /// What the reply of `Blame` has.
    package static let blameOutput = [Argument("blame", "s")]
}
