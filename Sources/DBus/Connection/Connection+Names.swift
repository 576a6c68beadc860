/// Well-known names.
extension Connection {
    /// How a name is asked for.
    package struct NameFlags: OptionSet, Sendable {
        /// The bits, as the bus takes them.
        package let rawValue: UInt32

        /// Makes flags of their bits.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Another may take the name over that asks with ``replaceExisting``.
        package static let allowReplacement = NameFlags(rawValue: 1)
        /// Take the name over from an owner that allows it.
        package static let replaceExisting = NameFlags(rawValue: 2)
        /// Do not wait in the queue behind the owner.
        package static let doNotQueue = NameFlags(rawValue: 4)
    }

    /// What became of the request for a name.
    package enum NameReply: UInt32, Sendable {
        /// The connection owns the name now.
        case primaryOwner = 1
        /// The connection waits behind the owner.
        case inQueue = 2
        /// Another owns the name.
        case exists = 3
        /// The connection owned the name before.
        case alreadyOwner = 4
    }

    /// What became of a name that was given back.
    package enum NameRelease: UInt32, Sendable {
        /// The connection does not own the name any more.
        case released = 1
        /// Nobody owned the name.
        case nonExistent = 2
        /// Another owns the name.
        case notOwner = 3
    }

    /// Asks the bus for a well-known name.
    ///
    /// Calls to the name may arrive before this returns: export what they are for beforehand.
    ///
    /// - Throws: ``DBusError``, of the name `AccessDenied` if the bus does not allow it.
    package func requestName(_ name: BusName, _ flags: NameFlags = []) async throws -> NameReply {
        try await callBus("RequestName") { writer in
            try writer.writeString(name.string)
            try writer.writeUInt32(flags.rawValue)
        } read: {
            try $0.readCode()
        }
    }

    /// Gives a well-known name back.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    @discardableResult
    package func releaseName(_ name: BusName) async throws -> NameRelease {
        try await callBus("ReleaseName") {
            try $0.writeString(name.string)
        } read: {
            try $0.readCode()
        }
    }

    /// Calls a closure on the loop's thread each time when the bus says that a well-known name is not
    /// ours any more: another has taken it over, or we have given it back.
    ///
    /// Every call that was sent to the name while we had it has come by then.
    package func onNameLost(_ name: BusName, _ handler: @escaping @Sendable () -> Void) {
        nameLostHandlers[name, default: []].append(handler)
    }

    /// Calls a closure on the loop's thread each time when the bus says that a well-known name is ours
    /// now.
    package func onNameAcquired(_ name: BusName, _ handler: @escaping @Sendable () -> Void) {
        nameAcquiredHandlers[name, default: []].append(handler)
    }

    /// Calls the handlers of a name if the bus says that the name is lost or acquired.
    func noteOwnedNames(_ message: borrowing Message) {
        guard !nameLostHandlers.isEmpty || !nameAcquiredHandlers.isEmpty, !link.isDirect else {
            return
        }
        if let name = message.lostName {
            for handler in nameLostHandlers[name] ?? [] { handler() }
        } else if let name = message.acquiredName {
            for handler in nameAcquiredHandlers[name] ?? [] { handler() }
        }
    }
}

extension MessageReader {
    /// Reads a number that is one of a few.
    fileprivate mutating func readCode<Code: RawRepresentable<UInt32>>() throws(DBusError) -> Code {
        let number = try readUInt32()
        guard let code = Code(rawValue: number) else { throw .unknownCode(number) }
        return code
    }
}

/// Questions to the bus about the owners of names.
extension Connection {
    /// Whether a name has an owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    package func hasOwner(of name: BusName) async throws -> Bool {
        try await callBus("NameHasOwner") {
            try $0.writeString(name.string)
        } read: {
            try $0.readBool()
        }
    }

    /// The unique name of the connection that owns a name; nil if the name has no owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    package func owner(of name: BusName) async throws -> BusName? {
        do {
            let owner = try await callBus("GetNameOwner") {
                try $0.writeString(name.string)
            } read: {
                try $0.readString()
            }
            return try BusName(owner)
        } catch let error as DBusError where error.name == .nameHasNoOwner {
            return nil
        }
    }

    /// The unique names of the connections that own a name or wait for it: first the owner, then the
    /// others in the order in which they get the name.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked, or if the name has no owner.
    package func queuedOwners(of name: BusName) async throws -> [String] {
        try await callBus("ListQueuedOwners") {
            try $0.writeString(name.string)
        } read: {
            try $0.readArray { try $0.readString() }
        }
    }

    /// Whether the bus can start a program for a name that has no owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    package func canActivate(_ name: BusName) async throws -> Bool {
        try await callBus("ListActivatableNames") { _ in
        } read: {
            try $0.readArray { try $0.readString() }.contains(name.string)
        }
    }

    /// Asks the bus to start the program of a name without an owner, and waits until it owns the name.
    ///
    /// - Throws: ``DBusError``; if the program does not start, with the bus's own words.
    package func startService(_ name: BusName) async throws {
        _ = try await callBus("StartServiceByName") {
            try $0.writeString(name.string)
            try $0.writeUInt32(0)
        } read: {
            try $0.readUInt32()
        }
    }

    /// The process that owns a name; nil if the name has no owner, or if the bus does not say.
    package func processID(of name: BusName) async -> UInt32? {
        try? await callBus("GetConnectionUnixProcessID") {
            try $0.writeString(name.string)
        } read: {
            try $0.readUInt32()
        }
    }

    /// The changes of a name's owner.
    ///
    /// No change that comes after this returns is missed.
    ///
    /// - Parameters:
    ///   - name: A well-known name, or a unique one, which comes and goes with its connection.
    ///   - limit: How many signals may wait to be fetched.
    /// - Returns: Signals with three arguments: the name, and the unique names of the old and the new
    ///   owner. An empty string means that there is none.
    /// - Throws: ``DBusError`` as ``signals(_:limit:)`` does.
    package func ownerChanges(of name: BusName, limit: Int) async throws -> SignalStream {
        try await signals(Subscriptions.ownerRule(for: name), limit: limit)
    }

    /// Waits until a connection has left the bus.
    ///
    /// A connection that takes no calls (``holdCalls()``) may miss it: use another connection to ask.
    ///
    /// - Parameters:
    ///   - name: The unique name of the connection.
    ///   - limit: How long to wait.
    /// - Returns: Whether it has left; false if the time is over, or if the bus has gone.
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    package func waitForDeparture(
        of name: BusName, within limit: Duration
    ) async throws -> Bool {
        precondition(name.isUnique, "Only a unique name belongs to one connection.")
        let changes = try await ownerChanges(of: name, limit: 1)
        guard try await hasOwner(of: name) else { return true }
        let departure = Task(executorPreference: loop) {
            // A unique name gets its owner before anybody can know the name. So the next change is its end.
            var iterator = changes.makeAsyncIterator()
            return await iterator.next() != nil
        }
        let timer = loop.schedule(after: limit) { departure.cancel() }
        defer { timer.cancel() }
        return await departure.value
    }
}
