/// Signals from others.
extension Connection {
    /// Asks for signals.
    ///
    /// Once this returns, every signal that matches is in the stream. Each stream gets its own, also
    /// if several on a connection ask for the same.
    ///
    /// - Parameters:
    ///   - rule: Which signals.
    ///   - limit: How many may wait to be fetched. Later ones are lost, and the stream says so by an
    ///     ``SignalStream/Element/overflow(dropped:)`` if they are missing.
    /// - Throws: ``DBusError``, of the name `LimitsExceeded` if the bus has too many rules of this
    ///   connection.
    package func signals(_ rule: MatchRule, limit: Int) async throws -> SignalStream {
        let buffer = SignalBuffer(limit: limit)
        // Without a bus all that comes is from the peer, and comes unasked.
        guard !link.isDirect else {
            var rule = rule
            rule.sender = nil
            let number = subscriptions.add(rule, .buffer(buffer))
            return SignalStream(subscription: Subscription(number, buffer: buffer, on: self))
        }
        let number = subscriptions.add(rule, .buffer(buffer))
        // From here on its end unsubscribes, even if one of the calls throws.
        let subscription = Subscription(number, buffer: buffer, on: self)
        if let name = rule.followedSender { try await follow(name) }
        try await callBus("AddMatch") {
            try $0.writeString(rule.text)
        } read: { _ in
        }
        return SignalStream(subscription: subscription)
    }

    /// Calls a closure with each signal that matches, on the loop's thread and in the order in which
    /// they and the replies to calls come: what the sender sent before a reply has been told of when
    /// the reply is read.
    ///
    /// The bus learns of it before all that is sent from here on. It lasts as long as the connection.
    ///
    /// - Parameters:
    ///   - rule: Which signals. Without a bus its sender is not looked at.
    ///   - isAsked: Whether the bus is asked for all of them, or ``ask(for:)`` asks for some.
    ///   - isWanted: Whether a signal is to be read at all. It is given the signal with those arguments
    ///     alone that stand before the first which is no string: the others cost more to read.
    ///   - handler: Called with each; it may call this connection.
    /// - Throws: ``DBusError``, of the name `Disconnected`.
    /// - Precondition: The rule's sender is nil, unique, or the bus: no other's owner is looked up.
    package func onSignal(
        _ rule: MatchRule, isAsked: Bool = true, isWanted: ((Signal) -> Bool)? = nil,
        _ handler: @escaping (Signal) -> Void
    ) throws {
        precondition(rule.followedSender == nil, "Only a stream follows a name's owner.")
        var rule = rule
        if link.isDirect { rule.sender = nil }
        _ = subscriptions.add(rule, .handler(isWanted: isWanted, handler))
        if isAsked { try ask(for: rule) }
    }

    /// Has the bus send signals that ``onSignal(_:isAsked:_:)`` takes by a wider rule.
    ///
    /// - Throws: ``DBusError``, of the name `Disconnected`.
    package func ask(for rule: MatchRule) throws {
        guard !link.isDirect else { return }
        try tellBus("AddMatch", rule)
    }

    /// Learns who owns a name, now and from now on.
    private func follow(_ name: BusName) async throws {
        let rule = Subscriptions.ownerRule(for: name)
        try await callBus("AddMatch") {
            try $0.writeString(rule.text)
        } read: { _ in
        }
        do {
            try await callBus("GetNameOwner") {
                try $0.writeString(name.string)
            } read: { reader in
                let owner = try BusName(try reader.readString())
                // Noted in the pass that reads it: a change that comes right behind is newer.
                self.assumeIsolated { $0.subscriptions.note(owner, of: name) }
            }
        } catch let error as DBusError where error.name == .nameHasNoOwner {
            // Nobody yet. NameOwnerChanged tells when there is somebody.
        }
    }

    /// Ends a subscription, here and at the bus.
    func unsubscribe(_ number: UInt64) {
        guard let rule = subscriptions.remove(number), !link.isDirect else { return }
        removeMatch(rule)
        if let name = rule.followedSender { removeMatch(Subscriptions.ownerRule(for: name)) }
    }

    /// Takes a rule back at the bus, without waiting: nothing depends on when it is done.
    private func removeMatch(_ rule: MatchRule) {
        do {
            try tellBus("RemoveMatch", rule)
        } catch {
            // The connection has ended, and the rule with it.
        }
    }

    /// Calls a method of the bus on a rule, and waits for nothing.
    private func tellBus(_ member: MemberName, _ rule: MatchRule) throws {
        let message = try Message.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member)
        message.expectNoReply()
        try MessageWriter.write(to: message) { try $0.writeString(rule.text) }
        try link.send(message)
    }

    private static func firstStrings(of message: borrowing Message) -> [Value] {
        var reader = MessageReader(message)
        var strings: [Value] = []
        while reader.nextType == .string, let string = try? reader.readString() {
            strings.append(.string(string))
        }
        return strings
    }

    /// Gives a signal to the streams that want it.
    func deliver(_ message: borrowing Message) {
        guard let path = message.path, let interface = message.interface,
            let member = message.member
        else { return }
        let header = Signal(
            sender: message.sender, path: path, interface: interface, member: member, arguments: [])
        let (signal, handlers) = subscriptions.deliver(
            header, peek: { Self.firstStrings(of: message) }
        ) {
            var reader = MessageReader(message)
            return try reader.readValues()
        }
        for handler in handlers { handler(signal) }
    }
}
