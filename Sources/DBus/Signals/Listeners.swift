/// Signals of one interface of one object.
package struct SignalAddress: Sendable {
    /// The signals.
    package let members: Set<MemberName>
    /// Their interface.
    package let interface: InterfaceName
    /// The object that sends them.
    package let path: ObjectPath

    /// Names signals.
    package init(members: Set<MemberName>, interface: InterfaceName, path: ObjectPath) {
        self.members = members
        self.interface = interface
        self.path = path
    }
}

/// The connections that may want a signal.
package struct Listeners: Sendable {
    /// A connection, and what is known about it; nil if it has left.
    package typealias Listener = (name: BusName, credentials: PeerCredentials?)

    /// The connections, in no order, without those that may not call at all.
    package let all: [Listener]
    /// The paths in the match rules of each, for the first argument; nil for a rule without one.
    ///
    /// Nil if the bus does not show its match rules, or has too many. Then ``all`` has all connections
    /// except ours.
    package let paths: [BusName: Set<String?>]?
}

extension Connection {
    /// A bus that has more match rules is not asked for them: its reply could be of any size.
    private static let mostRules = 2000

    /// Queries the bus for the connections that may want signals of this connection.
    ///
    /// Those that have added a match rule before the call are among them. Programs that monitor the
    /// whole bus have no match rules.
    ///
    /// - Parameters:
    ///   - addresses: The signals.
    ///   - completion: Called once, on the loop's thread, with the listeners to each of them; nil if
    ///     the bus does not answer.
    package func queryListeners(
        to addresses: [SignalAddress], completion: @escaping @Sendable ([Listeners]?) -> Void
    ) {
        let signals = addresses.map { BroadcastSignal(sender: uniqueName?.string, $0) }
        guard callers.areRulesShown else {
            return readNames(for: signals, completion: completion)
        }
        askBus(
            Self.busStatistics, "GetStats", about: nil, replying: "a{sv}", isAnsweredAtEnd: true
        ) { reader in
            var count: UInt32?
            try reader.readEntries { key, type, value in
                if key == "MatchRules", type == "u" { count = try value.readUInt32() }
            }
            return count
        } then: { result in
            if case .failure(let error) = result, error.isRefusalForGood {
                self.callers.areRulesShown = false
            }
            guard let count = try? result.get(), count <= Self.mostRules else {
                return self.readNames(for: signals, completion: completion)
            }
            self.readRules(for: signals, completion: completion)
        }
    }

    private func readRules(
        for signals: [BroadcastSignal], completion: @escaping @Sendable ([Listeners]?) -> Void
    ) {
        askBus(
            Self.busStatistics, "GetAllMatchRules", about: nil, replying: "a{sas}",
            isAnsweredAtEnd: true
        ) { reader in
            var paths: [[BusName: Set<String?>]] = signals.map { _ in [:] }
            _ = try reader.readDictionary { entry in
                let name = try BusName(try entry.readString())
                _ = try entry.readArray { rules in
                    let rule = try rules.readString()
                    for index in signals.indices where signals[index].mayMatch(rule: rule) {
                        paths[index][name, default: []].insert(BroadcastSignal.path(in: rule))
                    }
                }
                return ((), ())
            }
            return paths
        } then: { result in
            guard let paths = try? result.get() else {
                return self.readNames(for: signals, completion: completion)
            }
            self.identifyListeners(
                paths.map { Array($0.keys) }, paths, completion: completion)
        }
    }

    private func readNames(
        for signals: [BroadcastSignal], completion: @escaping @Sendable ([Listeners]?) -> Void
    ) {
        askBus(
            Self.busInterface, "ListNames", about: nil, replying: "as", isAnsweredAtEnd: true
        ) {
            try $0.readArray { try $0.readString() }
        } then: { result in
            guard let names = try? result.get() else { return completion(nil) }
            let unique = names.filter { $0.hasPrefix(":") }.compactMap { try? BusName($0) }
            self.identifyListeners(signals.map { _ in unique }, nil, completion: completion)
        }
    }

    /// - Parameters:
    ///   - names: Those of the listeners to each signal.
    ///   - paths: What their rules say about the first argument; nil if there are no rules.
    private func identifyListeners(
        _ names: [[BusName]], _ paths: [[BusName: Set<String?>]]?,
        completion: @escaping @Sendable ([Listeners]?) -> Void
    ) {
        let all = Array(Set(names.joined()).subtracting([uniqueName].compactMap(\.self)))
        identify(all) { credentials in
            var known = Dictionary(uniqueKeysWithValues: zip(all, credentials))
            for name in all where self.isRefused(name) { known[name] = nil }
            completion(
                names.indices.map { index in
                    Listeners(
                        all: names[index].compactMap { name in known[name].map { (name, $0) } },
                        paths: paths?[index])
                })
        }
    }

    /// Whether a connection that was identified may not call at all.
    private func isRefused(_ name: BusName) -> Bool {
        callers.table.known(name)?.refusal != nil
    }
}

extension DBusError {
    /// Whether the same call will be refused again.
    fileprivate var isRefusalForGood: Bool {
        [
            .unknownMethod, .unknownInterface, .unknownObject,
            "org.freedesktop.DBus.Error.AccessDenied",
        ].contains(name)
    }
}

/// A signal without a destination, as match rules see it.
struct BroadcastSignal {
    /// The unique name of the sender.
    let sender: String?
    let path: String
    let interface: String
    /// The signals; a rule for one of them is enough.
    let members: Set<String>

    init(sender: String?, _ address: SignalAddress) {
        self.sender = sender
        path = address.path.string
        interface = address.interface.string
        members = Set(address.members.map(\.string))
    }

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

    /// The path that a rule has for the first argument; nil if it has none, or one with a quote.
    static func path(in rule: String) -> String? {
        let parts = rule.split(separator: "'", omittingEmptySubsequences: false)
        guard !rule.utf8.contains(UInt8(ascii: "\\")) else { return nil }
        let keys = stride(from: 0, to: parts.count - 1, by: 2)
        let key = keys.first { parts[$0].drop { $0 == "," } == "arg0path=" }
        return key.map { String(parts[$0 + 1]) }
    }

    private func excludes(_ key: Substring, _ value: String) -> Bool {
        switch key {
        case "type=": value != "signal"
        // Another well-known name may be ours, too.
        case "sender=": value == "org.freedesktop.DBus" || value.hasPrefix(":") && value != sender
        case "path=": value != path
        case "path_namespace=": value != "/" && value != path && !path.hasPrefix(value + "/")
        case "interface=": value != interface
        case "member=": !members.contains(value)
        default: false
        }
    }
}
