internal import DBus

/// The file of a channel as xfconfd writes it, for a user who goes back to xfconfd.
package struct ChannelText {
    /// A property and those below it.
    private struct Node {
        var value: Value?
        var children: [String: Node] = [:]

        mutating func add(_ value: Value, at path: ArraySlice<Substring>) {
            guard let name = path.first else { return self.value = value }
            children[String(name), default: Node()].add(value, at: path.dropFirst())
        }
    }

    private var root = Node()
    private let channel: ChannelName

    /// Begins the file of a channel without properties.
    package init(of channel: ChannelName) {
        self.channel = channel
    }

    /// Adds a property.
    package mutating func add(_ value: PropertyValue, for property: String) {
        root.add(value.value, at: property.split(separator: "/")[...])
    }

    /// The text in XML.
    package var text: String {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "",
            "<channel name=\"\(Self.escaped(channel.description))\" version=\"1.0\">",
        ]
        Self.write(root, depth: 1, to: &lines)
        return (lines + ["</channel>", ""]).joined(separator: "\n")
    }

    private static func write(_ node: Node, depth: Int, to lines: inout [String]) {
        let margin = String(repeating: "  ", count: depth)
        for (name, child) in node.children.sorted(by: { $0.key < $1.key }) {
            let elements = elements(of: child.value)
            let isEmpty = child.children.isEmpty && elements.isEmpty
            lines.append(
                "\(margin)<property name=\"\(escaped(name))\" \(attributes(of: child.value))"
                    + (isEmpty ? "/>" : ">"))
            guard !isEmpty else { continue }
            for element in elements {
                lines.append("\(margin)  <value \(attributes(of: element))/>")
            }
            write(child, depth: depth + 1, to: &lines)
            lines.append("\(margin)</property>")
        }
    }

    private static func elements(of value: Value?) -> [Value] {
        guard case .array(_, let elements) = value else { return [] }
        return elements.map { if case .variant(let content) = $0 { content } else { $0 } }
    }

    private static func attributes(of value: Value?) -> String {
        guard let value else { return #"type="empty""# }
        guard let (type, text) = scalar(value) else { return #"type="array""# }
        return "type=\"\(type.rawValue)\" value=\"\(escaped(text))\""
    }

    private static func scalar(_ value: Value) -> (ScalarType, String)? {
        switch value {
        case .string(let text): (.string, text)
        case .boolean(let flag): (.bool, "\(flag)")
        case .double(let number): (.double, "\(number)")
        case .byte(let number): (.uchar, "\(number)")
        case .int16(let number): (.int16, "\(number)")
        case .uint16(let number): (.uint16, "\(number)")
        case .int32(let number): (.int, "\(number)")
        case .uint32(let number): (.uint, "\(number)")
        case .int64(let number): (.int64, "\(number)")
        case .uint64(let number): (.uint64, "\(number)")
        default: nil
        }
    }

    /// Escapes what has a meaning in XML, and white space, which attributes would lose.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "<": "&lt;"
            case ">": "&gt;"
            case "&": "&amp;"
            case "\"": "&quot;"
            case "\t", "\n", "\r": "&#\(scalar.value);"
            default: String(scalar)
            }
        }.joined()
    }
}
