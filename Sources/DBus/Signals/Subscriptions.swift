/// Which signals are wanted.
///
/// All fields that are set must match.
///
/// ```swift
/// MatchRule(sender: "org.example.Service", interface: "org.example.Clock", member: "Ticked")
/// ```
package struct MatchRule: Sendable, Hashable {
    /// The sender.
    ///
    /// A well-known name stands for its owner at the time of the signal.
    package var sender: BusName?
    /// The object of the sender.
    package var path: ObjectPath?
    /// A path at or below which the object is.
    package var pathNamespace: ObjectPath?
    /// The interface that declares the signals.
    package var interface: InterfaceName?
    /// The name of the signals.
    package var member: MemberName?
    /// The values of arguments, by number from 0 to 63.
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

    /// The rule as text for the bus.
    ///
    /// https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-routing-match-rules
    var text: String {
        var parts = ["type='signal'"]
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            // There is no escape inside quotes: they are closed, and an escaped quote is put
            // between.
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

    /// Whether a signal matches in everything except its arguments.
    ///
    /// - Parameter owner: The unique name that ``sender`` means now.
    func matchesHeader(of signal: Signal, sentBy owner: BusName?) -> Bool {
        func holds<Part: Equatable>(_ wanted: Part?, _ given: Part?) -> Bool {
            wanted == nil || wanted == given
        }
        return (sender == nil || owner == signal.sender)
            && holds(path, signal.path) && holds(interface, signal.interface)
            && holds(member, signal.member) && isInNamespace(signal.path)
    }

    /// Whether a signal matches in its arguments.
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

/// The streams of a connection, and the owners of the names that they follow.
struct Subscriptions {
    /// The receiver of the signals of a rule.
    enum Receiver {
        /// A stream, whose consumer reads them later.
        case buffer(SignalBuffer)
        /// A closure, which is called when they are read.
        ///
        /// - Parameter isWanted: Whether to read a signal at all, from its sender and its first
        ///   string arguments.
        case handler(isWanted: ((Signal) -> Bool)?, (Signal) -> Void)
    }

    private struct Entry {
        let rule: MatchRule
        let receiver: Receiver
    }

    /// A well-known name that rules use.
    ///
    /// Without an owner there are no signals.
    private struct FollowedName {
        var followers = 0
        var owner: BusName?
    }

    private var entries: [UInt64: Entry] = [:]
    private var names: [BusName: FollowedName] = [:]
    private var lastNumber: UInt64 = 0

    mutating func add(_ rule: MatchRule, _ receiver: Receiver) -> UInt64 {
        lastNumber += 1
        entries[lastNumber] = Entry(rule: rule, receiver: receiver)
        if let name = rule.followedSender { names[name, default: FollowedName()].followers += 1 }
        return lastNumber
    }

    /// Removes a stream, and returns the rule to remove from the bus.
    mutating func remove(_ number: UInt64) -> MatchRule? {
        guard let rule = entries.removeValue(forKey: number)?.rule else { return nil }
        if let name = rule.followedSender, var followed = names[name] {
            followed.followers -= 1
            names[name] = followed.followers == 0 ? nil : followed
        }
        return rule
    }

    func finishAll() {
        for entry in entries.values {
            if case .buffer(let buffer) = entry.receiver { buffer.finish() }
        }
    }

    /// Notes the owner of a name, if a stream follows it.
    mutating func note(_ owner: BusName?, of name: BusName) {
        names[name]?.owner = owner
    }

    /// Gives a signal to each stream whose rule it matches.
    ///
    /// - Parameters:
    ///   - peek: Reads the first arguments that are strings.
    ///   - read: Reads the arguments once, only if a stream may want them.
    /// - Returns: The signal, and the handlers to call with it after the table is no longer in use.
    mutating func deliver(
        _ header: Signal, peek: () -> [Value], read: () throws -> [Value]
    ) -> (signal: Signal, handlers: [(Signal) -> Void]) {
        let wanting = entries.values.filter { entry in
            guard entry.rule.matchesHeader(of: header, sentBy: owner(of: entry.rule.sender)) else {
                return false
            }
            guard case .handler(let isWanted?, _) = entry.receiver else { return true }
            return isWanted(header.with(peek()))
        }
        let isOwnerChange = Self.isOwnerChange(header)
        guard !wanting.isEmpty || isOwnerChange else { return (header, []) }
        guard let arguments = try? read() else {
            // libdbus has checked the message, so a descriptor could not be received.
            for case .buffer(let buffer) in wanting.map(\.receiver) { buffer.addLoss() }
            return (header, [])
        }
        let signal = header.with(arguments)
        if isOwnerChange { noteOwnerChange(signal) }
        var handlers: [(Signal) -> Void] = []
        for entry in wanting where entry.rule.matchesArguments(of: signal) {
            switch entry.receiver {
            case .buffer(let buffer): buffer.add(signal)
            case .handler(_, let handler): handlers.append(handler)
            }
        }
        return (signal, handlers)
    }

    /// The name that the signals of a sender have.
    private func owner(of sender: BusName?) -> BusName? {
        guard let sender else { return nil }
        return sender.isFollowed ? names[sender]?.owner : sender
    }
}

// MARK: Owners of names

extension Subscriptions {
    private static let ownerChanges = MatchRule(
        sender: .bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "NameOwnerChanged")

    /// The rule for the bus's signal about owners of a name.
    static func ownerRule(for name: BusName) -> MatchRule {
        var rule = ownerChanges
        rule.arguments[0] = name.string
        return rule
    }

    private static func isOwnerChange(_ signal: Signal) -> Bool {
        ownerChanges.matchesHeader(of: signal, sentBy: .bus)
    }

    private mutating func noteOwnerChange(_ signal: Signal) {
        guard signal.arguments.count == 3, case .string(let name) = signal.arguments[0],
            case .string(let owner) = signal.arguments[2], let name = try? BusName(name)
        else { return }
        // The empty string means no owner.
        note(try? BusName(owner), of: name)
    }
}

extension BusName {
    /// Whether it is a name that can change its owner, so that the owner must be known.
    fileprivate var isFollowed: Bool { !isUnique && self != .bus }
}

extension MatchRule {
    /// The sender, if its owner must be known.
    var followedSender: BusName? {
        sender.flatMap { $0.isFollowed ? $0 : nil }
    }
}
