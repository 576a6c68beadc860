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
