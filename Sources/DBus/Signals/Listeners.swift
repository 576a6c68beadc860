/// Who listens to signals.
extension Connection {
    /// Asks the bus whether a program may have a match rule for a signal of this connection.
    ///
    /// The answer is true if in doubt. Programs that monitor the whole bus have no match rules.
    ///
    /// - Parameter completion: Called once, on the loop's thread. The answer is nil if the bus does
    ///   not show its match rules, as with dbus-broker, or has not answered after 5 s.
    package func askForListeners(
        to member: MemberName, of interface: InterfaceName, at path: ObjectPath,
        completion: @escaping @Sendable (Bool?) -> Void
    ) {
        let signal = BroadcastSignal(
            sender: uniqueName?.string, path: path.string, interface: interface.string,
            member: member.string)
        call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules",
            timeout: .seconds(5), replying: "a{sas}", write: { _ in },
            read: { reader in
                var isHeard = false
                _ = try reader.readDictionary { entry in
                    let rules = (
                        try entry.readString(), try entry.readArray { try $0.readString() }
                    )
                    isHeard = isHeard || rules.1.contains(where: signal.mayMatch)
                    return rules
                }
                return isHeard
            }, completion: { completion(try? $0.get()) })
    }
}

/// A signal without a destination, as match rules see it.
struct BroadcastSignal {
    /// The unique name of the sender.
    let sender: String?
    let path: String
    let interface: String
    let member: String

    /// Whether a rule may be for this signal, whatever its arguments are.
    ///
    /// - Parameter rule: As the bus writes it, such as `type='signal',member='Changed'`. A value may
    ///   contain anything, even quotes.
    func mayMatch(rule: String) -> Bool {
        // A value with quotes shifts what follows, which then is no known key.
        let parts = rule.split(separator: "'", omittingEmptySubsequences: false)
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let key = parts[index].drop { $0 == "," }
            if excludes(key, String(parts[index + 1])) { return false }
        }
        return true
    }

    private func excludes(_ key: Substring, _ value: String) -> Bool {
        switch key {
        case "type=": value != "signal"
        // Another name may be ours, too.
        case "sender=": value == "org.freedesktop.DBus" || value.hasPrefix(":") && value != sender
        case "path=": value != path
        case "path_namespace=": value != "/" && value != path && !path.hasPrefix(value + "/")
        case "interface=": value != interface
        case "member=": value != member
        default: false
        }
    }
}
