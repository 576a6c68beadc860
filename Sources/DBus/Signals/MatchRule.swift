/// Which signals are wanted: those for which everything that is set here holds.
///
/// ```swift
/// MatchRule(sender: "org.example.Service", interface: "org.example.Clock", member: "Ticked")
/// ```
package struct MatchRule: Sendable, Hashable {
    /// Who sends them.
    ///
    /// A well-known name stands for its owner at the time of the signal.
    package var sender: BusName?
    /// The object that sends them.
    package var path: ObjectPath?
    /// A path at or below which the object is.
    package var pathNamespace: ObjectPath?
    /// The interface that declares them.
    package var interface: InterfaceName?
    /// Their name.
    package var member: MemberName?
    /// What arguments are, by number from 0 to 63.
    ///
    /// Only strings match.
    package var arguments: [Int: String]

    /// Makes a rule.
    package init(
        sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
        interface: InterfaceName? = nil, member: MemberName? = nil, arguments: [Int: String] = [:]
    ) {
        precondition(
            arguments.keys.allSatisfy((0...63).contains), "A rule matches arguments 0 to 63.")
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// The rule as the bus takes it.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-routing-match-rules
    var text: String {
        var parts = ["type='signal'"]
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            // There is no escape inside quotes: they are closed, and an escaped one stands between.
            let quoted = value.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''")
            parts.append("\(key)='\(quoted)'")
        }
        add("sender", sender?.string)
        add("path", path?.string)
        add("path_namespace", pathNamespace?.string)
        add("interface", interface?.string)
        add("member", member?.string)
        for (number, value) in arguments.sorted(by: { $0.key < $1.key }) {
            add("arg\(number)", value)
        }
        return parts.joined(separator: ",")
    }

    /// Whether a signal is wanted, by all but its arguments.
    ///
    /// - Parameter owner: The unique name that stands for ``sender`` now.
    func matchesHeader(of signal: Signal, sentBy owner: BusName?) -> Bool {
        func holds<Part: Equatable>(_ wanted: Part?, _ given: Part?) -> Bool {
            wanted == nil || wanted == given
        }
        return (sender == nil || owner == signal.sender)
            && holds(path, signal.path) && holds(interface, signal.interface)
            && holds(member, signal.member) && isInNamespace(signal.path)
    }

    /// Whether a signal is wanted, by its arguments.
    func matchesArguments(of signal: Signal) -> Bool {
        arguments.allSatisfy { number, wanted in
            signal.arguments.indices.contains(number)
                && signal.arguments[number] == .string(wanted)
        }
    }

    private func isInNamespace(_ path: ObjectPath) -> Bool {
        guard let pathNamespace else { return true }
        return path == pathNamespace || pathNamespace.child(towards: path) != nil
    }
}
