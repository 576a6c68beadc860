/// The objects that a connection serves, and the paths above them.
struct ObjectTree {
    /// What is at one path: interfaces, or only the way to objects below.
    struct Node {
        var interfaces: [Interface] = [StandardInterfaces.introspectable]
        var methods: [InterfaceName: [MemberName: Method]] = [:]
        var children: Set<String> = []

        init() {
            index(StandardInterfaces.introspectable)
        }

        mutating func add(_ interface: Interface) {
            precondition(
                methods[interface.name] == nil, "\(interface.name) was exported twice at one path.")
            interfaces.append(interface)
            index(interface)
        }

        private mutating func index(_ interface: Interface) {
            methods[interface.name] = Self.methods(of: interface)
        }

        fileprivate static func methods(of interface: Interface) -> [MemberName: Method] {
            Dictionary(interface.methods.map { ($0.name, $0) }) { first, _ in
                preconditionFailure("\(interface.name).\(first.name) is declared twice.")
            }
        }
    }

    private var nodes: [ObjectPath: Node] = [:]
    private static let peerMethods = Node.methods(of: StandardInterfaces.peer)

    mutating func export(_ interfaces: [Interface], at path: ObjectPath) {
        var node = nodes[path] ?? makeNode(at: path)
        if node.methods[StandardInterfaces.propertiesName] == nil {
            node.add(StandardInterfaces.properties)
        }
        for interface in interfaces { node.add(interface) }
        nodes[path] = node
    }

    /// Makes a node and the way to it.
    private mutating func makeNode(at path: ObjectPath) -> Node {
        for ancestor in path.ancestors {
            guard let child = ancestor.child(towards: path) else { continue }
            nodes[ancestor, default: Node()].children.insert(String(child))
        }
        return Node()
    }

    /// Finds the method that a call is for.
    ///
    /// - Parameter interface: Nil is allowed to callers: the first interface with the member.
    /// - Throws: The error that says which part of it is unknown.
    func method(
        _ member: MemberName, of interface: InterfaceName?, at path: ObjectPath
    ) throws(DBusError) -> (InterfaceName, Method) {
        if let interface, interface == StandardInterfaces.peer.name {
            guard let method = Self.peerMethods[member] else {
                throw .unknownMethod(member, of: interface)
            }
            return (interface, method)
        }
        guard let node = nodes[path] else { throw .unknownObject(path) }
        if let interface {
            guard let methods = node.methods[interface] else {
                throw .unknownInterface(interface.string, at: path)
            }
            guard let method = methods[member] else { throw .unknownMethod(member, of: interface) }
            return (interface, method)
        }
        for interface in node.interfaces {
            if let method = node.methods[interface.name]?[member] {
                return (interface.name, method)
            }
        }
        throw .unknownMethod(member, of: nil)
    }

    /// The properties of an interface that a caller names; of all interfaces if it names none.
    ///
    /// - Throws: `UnknownInterface`.
    func properties(
        of interface: String, at path: ObjectPath
    ) throws(DBusError) -> [Property] {
        let interfaces = nodes[path]?.interfaces ?? []
        if interface.isEmpty { return interfaces.flatMap(\.properties) }
        guard let found = interfaces.first(where: { $0.name.string == interface }) else {
            throw .unknownInterface(interface, at: path)
        }
        return found.properties
    }

    /// A property that the program itself names.
    func property(
        _ name: MemberName, of interface: InterfaceName, at path: ObjectPath
    ) -> Property {
        let interface = nodes[path]?.interfaces.first { $0.name == interface }
        guard let property = interface?.properties.first(where: { $0.name == name }) else {
            preconditionFailure("The property \(name) is not exported at \(path).")
        }
        return property
    }

    /// Traps if a signal is not as its interface declares it.
    func checkSignal(
        _ member: MemberName, of interface: InterfaceName, at path: ObjectPath,
        _ signature: Signature
    ) {
        guard let interface = nodes[path]?.interfaces.first(where: { $0.name == interface }) else {
            return
        }
        let declared = interface.signals.first { $0.name == member }
        precondition(
            declared?.signature == signature,
            "\(interface.name).\(member) is not declared to carry '\(signature)'.")
    }

    /// The description of what is at a path.
    func introspection(of path: ObjectPath) -> String {
        let node = nodes[path] ?? Node()
        return Introspection.document(node.interfaces, children: node.children.sorted())
    }
}
