/// The interfaces that every object has, declared like any other.
///
/// https://dbus.freedesktop.org/doc/dbus-specification.html#standard-interfaces
enum StandardInterfaces {
    static let introspectable = Interface(
        "org.freedesktop.DBus.Introspectable",
        methods: [
            Method("Introspect", out: [Argument("xml_data", "s")]) { call in
                let document = call.objects.introspection(of: call.path)
                try call.reply { try $0.writeString(document) }
            }
        ])

    /// Answered at every path, even if there is no object.
    ///
    /// libdbus would do it, out of every account of who calls and what is sent to whom.
    static let peer = Interface(
        "org.freedesktop.DBus.Peer",
        methods: [
            Method("Ping") { try $0.reply() },
            Method("GetMachineId", out: [Argument("machine_uuid", "s")]) { call in
                let identifier = try Machine.identifier()
                try call.reply { try $0.writeString(identifier) }
            },
        ])

    static let propertiesName: InterfaceName = "org.freedesktop.DBus.Properties"

    static let properties = Interface(
        propertiesName,
        methods: [
            Method(
                "Get", in: [Argument("interface_name", "s"), Argument("property_name", "s")],
                out: [Argument("value", "v")], handler: get),
            Method(
                "GetAll", in: [Argument("interface_name", "s")],
                out: [Argument("properties", "a{sv}")], handler: getAll),
            Method(
                "Set",
                in: [
                    Argument("interface_name", "s"), Argument("property_name", "s"),
                    Argument("value", "v"),
                ], handler: set),
        ],
        signals: [
            SignalDeclaration(
                "PropertiesChanged",
                [
                    Argument("interface_name", "s"), Argument("changed_properties", "a{sv}"),
                    Argument("invalidated_properties", "as"),
                ])
        ])

    @Sendable private static func get(_ call: sending MethodCall) throws {
        let value = try call.namedProperty().value()
        try call.reply { try $0.writeValue(.variant(value)) }
    }

    @Sendable private static func getAll(_ call: sending MethodCall) throws {
        let interface = try call.arguments { try $0.readString() }
        let properties = try call.objects.properties(of: interface, at: call.path)
        let entries = try properties.map {
            Value.Entry(.string($0.name.string), .variant(try $0.value()))
        }
        try call.reply { try $0.writeValue(.dictionary(key: "s", value: "v", entries)) }
    }

    @Sendable private static func set(_ call: sending MethodCall) throws {
        throw DBusError.readOnlyProperty(try call.namedProperty().name.string)
    }
}

extension MethodCall {
    fileprivate var objects: ObjectTree {
        connection.assumeIsolated { $0.objects }
    }

    /// The property that the first two arguments name.
    fileprivate func namedProperty() throws -> Property {
        let (interface, name) = try arguments { (try $0.readString(), try $0.readString()) }
        let properties = try objects.properties(of: interface, at: path)
        guard let property = properties.first(where: { $0.name.string == name }) else {
            throw DBusError.unknownProperty(name, of: interface)
        }
        return property
    }
}

/// Writes the description of an object.
///
/// https://dbus.freedesktop.org/doc/dbus-specification.html#introspection-format
enum Introspection {
    static func document(_ interfaces: [Interface], children: [String]) -> String {
        var lines = [
            "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"",
            " \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">",
            "<node>",
        ]
        lines += (interfaces + [StandardInterfaces.peer]).flatMap(lines(of:)).map { "  " + $0 }
        lines += children.map { "  <node\(attribute("name", $0))/>" }
        return lines.joined(separator: "\n") + "\n</node>\n"
    }

    private static func lines(of interface: Interface) -> [String] {
        element(
            "interface", attribute("name", interface.name.string),
            interface.methods.flatMap(lines(of:)) + interface.signals.flatMap(lines(of:))
                + interface.properties.flatMap(lines(of:)))
    }

    private static func lines(of method: Method) -> [String] {
        element(
            "method", attribute("name", method.name.string),
            method.annotations.map(line(of:))
                + method.input.flatMap { lines(of: $0, direction: "in") }
                + method.output.flatMap { lines(of: $0, direction: "out") })
    }

    private static func lines(of signal: SignalDeclaration) -> [String] {
        element(
            "signal", attribute("name", signal.name.string),
            signal.annotations.map(line(of:)) + signal.arguments.flatMap { lines(of: $0) })
    }

    private static func lines(of property: Property) -> [String] {
        let emitsChanged = Annotation(
            "org.freedesktop.DBus.Property.EmitsChangedSignal", property.emitsChanged.rawValue)
        return element(
            "property",
            attribute("name", property.name.string) + attribute("type", property.type.string)
                + attribute("access", "read"),
            ([emitsChanged] + property.annotations).map(line(of:)))
    }

    private static func lines(of argument: Argument, direction: String? = nil) -> [String] {
        element(
            "arg",
            attribute("name", argument.name) + attribute("type", argument.type.string)
                + (direction.map { attribute("direction", $0) } ?? ""),
            argument.annotations.map(line(of:)))
    }

    private static func line(of annotation: Annotation) -> String {
        "<annotation\(attribute("name", annotation.name))\(attribute("value", annotation.value))/>"
    }

    private static func element(
        _ name: String, _ attributes: String, _ content: [String]
    ) -> [String] {
        if content.isEmpty { return ["<\(name)\(attributes)/>"] }
        return ["<\(name)\(attributes)>"] + content.map { "  " + $0 } + ["</\(name)>"]
    }

    private static func attribute(_ name: String, _ value: String) -> String {
        let escaped = value.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }
        return " \(name)=\"\(escaped.joined())\""
    }
}
