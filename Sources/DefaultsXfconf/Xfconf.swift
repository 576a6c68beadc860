package import DBus
internal import Glibc

/// The interface of Xfconf, the settings service of Xfce.
///
/// A channel is a domain, and a property is a key of it. So every other way to the values works for
/// them, too.
package enum Xfconf {
    /// The name on the bus of the service that libxfconf calls.
    ///
    /// Xfconf's own tests use another name, which libxfconf takes if it finds the same variable in
    /// its environment.
    package static var busName: BusName {
        getenv("XFCONF_RUN_IN_TEST_MODE") == nil ? "org.xfce.Xfconf" : "org.xfce.XfconfTest"
    }

    /// The only object of the service.
    package static let objectPath: ObjectPath = "/org/xfce/Xfconf"

    /// The interface of that object.
    package static let interface: InterfaceName = "org.xfce.Xfconf"

    /// A property has a new value.
    package static let propertyChanged = SignalDeclaration(
        "PropertyChanged", [.channel, .property, .value])
    /// A property has no value any more.
    package static let propertyRemoved = SignalDeclaration(
        "PropertyRemoved", [.channel, .property])

    /// A method of the interface: its name and its arguments.
    package struct Declaration: Sendable {
        /// The member name, such as `GetProperty`.
        package let name: MemberName
        /// The arguments that the caller sends.
        package let input: [Argument]
        /// The arguments that the reply returns.
        package let output: [Argument]
    }

    package static let setProperty = Declaration(
        name: "SetProperty", input: [.channel, .property, .value], output: [])
    package static let getProperty = Declaration(
        name: "GetProperty", input: [.channel, .property], output: [.value])
    package static let getAllProperties = Declaration(
        name: "GetAllProperties", input: [.channel, Argument("property_base", "s")],
        output: [Argument("properties", "a{sv}")])
    package static let propertyExists = Declaration(
        name: "PropertyExists", input: [.channel, .property], output: [Argument("exists", "b")])
    package static let resetProperty = Declaration(
        name: "ResetProperty", input: [.channel, .property, Argument("recursive", "b")],
        output: [])
    package static let listChannels = Declaration(
        name: "ListChannels", input: [], output: [Argument("channels", "as")])
    package static let isPropertyLocked = Declaration(
        name: "IsPropertyLocked", input: [.channel, .property], output: [Argument("locked", "b")])
}

extension Argument {
    fileprivate static let channel = Argument("channel", "s")
    fileprivate static let property = Argument("property", "s")
    fileprivate static let value = Argument("value", "v")
}
