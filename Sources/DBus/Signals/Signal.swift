/// A signal that was received.
public struct Signal: Sendable, Equatable {
    /// The unique name of who sent it, or that of the bus.
    public let sender: BusName?
    /// The object that sent it.
    public let path: ObjectPath
    /// The interface that declares it.
    public let interface: InterfaceName
    /// Its name.
    public let member: MemberName
    /// What it carries.
    public let arguments: [Value]

    /// The same signal with its arguments, which are read after the rest.
    func with(_ arguments: [Value]) -> Signal {
        Signal(
            sender: sender, path: path, interface: interface, member: member, arguments: arguments)
    }
}
