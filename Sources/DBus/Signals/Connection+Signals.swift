/// Signals from others.
extension Connection {
    /// Asks for signals.
    ///
    /// Once this returns, every signal that matches is in the stream. Each stream gets its own, also
    /// where several on a connection ask for the same.
    ///
    /// - Parameters:
    ///   - rule: Which signals.
    ///   - limit: How many may wait to be fetched. Later ones are lost, and the stream says so by an
    ///     ``SignalStream/Element/overflow(dropped:)`` where they are missing.
    /// - Throws: ``DBusError``, of the name `LimitsExceeded` where the bus has too many rules of this
    ///   connection.
    public func signals(_ rule: MatchRule, limit: Int) async throws -> SignalStream {
        let buffer = SignalBuffer(limit: limit)
        // Without a bus all that comes is from the peer, and comes unasked.
        guard !link.isDirect else {
            var rule = rule
            rule.sender = nil
            let number = subscriptions.add(rule, buffer)
            return SignalStream(subscription: Subscription(number, buffer: buffer, on: self))
        }
        let number = subscriptions.add(rule, buffer)
        // From here on its end unsubscribes, also where one of the calls throws.
        let subscription = Subscription(number, buffer: buffer, on: self)
        if let name = rule.followedSender { try await follow(name) }
        try await callBus("AddMatch") {
            try $0.writeString(rule.text)
        } read: { _ in
        }
        return SignalStream(subscription: subscription)
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
        let message = try? Message.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RemoveMatch")
        guard let message else { return }
        message.expectNoReply()
        do {
            try MessageWriter.write(to: message) { try $0.writeString(rule.text) }
            try link.send(message)
        } catch {
            // The connection has ended, and the rule with it.
        }
    }

    /// Gives a signal to the streams that want it.
    func deliver(_ message: borrowing Message) {
        guard let path = message.path, let interface = message.interface,
            let member = message.member
        else { return }
        let header = Signal(
            sender: message.sender, path: path, interface: interface, member: member, arguments: [])
        var reader = MessageReader(message)
        subscriptions.deliver(header) { try reader.readValues() }
    }
}
