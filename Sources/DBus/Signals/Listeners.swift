/// Who listens to signals.
extension Connection {
    /// A bus that has more match rules is not asked for them: its reply could be of any size.
    private static let mostRules = 2000

    /// Queries the bus for programs that have a match rule for a signal of this connection.
    ///
    /// Programs that monitor the whole bus have no match rules.
    ///
    /// - Parameter completion: Called once, on the loop's thread, unless the connection has ended:
    ///   whether there may be such a program, true if in doubt; nil if the bus does not show its match
    ///   rules, as dbus-broker, or does not answer.
    package func queryListeners(
        to member: MemberName, of interface: InterfaceName, at path: ObjectPath,
        completion: @escaping @Sendable (Bool?) -> Void
    ) {
        let signal = BroadcastSignal(
            sender: uniqueName?.string, path: path.string, interface: interface.string,
            member: member.string)
        askBus(Self.busStatistics, "GetStats", about: nil, replying: "a{sv}") { reader in
            var count: UInt32?
            try reader.readEntries { key, type, value in
                if key == "MatchRules", type == "u" { count = try value.readUInt32() }
            }
            return count
        } then: { result in
            guard let count = try? result.get() else { return completion(nil) }
            guard count <= Self.mostRules else { return completion(true) }
            self.readRules(for: signal, completion: completion)
        }
    }

    private func readRules(
        for signal: BroadcastSignal, completion: @escaping @Sendable (Bool?) -> Void
    ) {
        askBus(Self.busStatistics, "GetAllMatchRules", about: nil, replying: "a{sas}") { reader in
            var isMatched = false
            _ = try reader.readDictionary { entry in
                _ = try entry.readString()
                _ = try entry.readArray { rules in
                    let rule = try rules.readString()
                    isMatched = isMatched || signal.mayMatch(rule: rule)
                }
                return ((), ())
            }
            return isMatched
        } then: {
            completion(try? $0.get())
        }
    }
}

/// A signal without a destination, as match rules see it.
struct BroadcastSignal {
    /// The unique name of the sender.
    let sender: String?
    let path: String
    let interface: String
    let member: String

    /// Whether a rule may match the signal, whatever the arguments of the signal are.
    ///
    /// - Parameter rule: As the bus writes it, such as `type='signal',member='Changed',arg0='x'`. It
    ///   writes the arguments last. Only these may contain quotes.
    func mayMatch(rule: String) -> Bool {
        let parts = rule.split(separator: "'", omittingEmptySubsequences: false)
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let key = parts[index].drop { $0 == "," }
            if key.hasPrefix("arg") { return true }
            if excludes(key, String(parts[index + 1])) { return false }
        }
        return true
    }

    private func excludes(_ key: Substring, _ value: String) -> Bool {
        switch key {
        case "type=": value != "signal"
        // Another well-known name may be ours, too.
        case "sender=": value == "org.freedesktop.DBus" || value.hasPrefix(":") && value != sender
        case "path=": value != path
        case "path_namespace=": value != "/" && value != path && !path.hasPrefix(value + "/")
        case "interface=": value != interface
        case "member=": value != member
        default: false
        }
    }
}
