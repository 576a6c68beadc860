/// Who is on the bus.
extension Connection {
    /// Whether somebody on the bus has a name.
    ///
    /// - Throws: ``DBusError`` where the bus cannot be asked.
    public func hasOwner(of name: BusName) async throws -> Bool {
        try await callBus("NameHasOwner") {
            try $0.writeString(name.string)
        } read: {
            try $0.readBool()
        }
    }

    /// The unique name of the connection that has a name; nil where nobody has it.
    ///
    /// - Throws: ``DBusError`` where the bus cannot be asked.
    public func owner(of name: BusName) async throws -> BusName? {
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

    /// The unique names of those who have a name or wait for it: its owner, then the one who gets the
    /// name after it, and so on.
    ///
    /// - Throws: ``DBusError`` where the bus cannot be asked, or nobody has the name.
    public func queuedOwners(of name: BusName) async throws -> [String] {
        try await callBus("ListQueuedOwners") {
            try $0.writeString(name.string)
        } read: {
            try $0.readArray { try $0.readString() }
        }
    }

    /// Whether the bus knows of a program to start for a name that nobody has.
    ///
    /// - Throws: ``DBusError`` where the bus cannot be asked.
    public func canActivate(_ name: BusName) async throws -> Bool {
        try await callBus("ListActivatableNames") { _ in
        } read: {
            try $0.readArray { try $0.readString() }.contains(name.string)
        }
    }

    /// Asks the bus to start the program of a name without an owner, and waits until it owns the name.
    ///
    /// - Throws: ``DBusError``, the bus's own words where the program does not start.
    public func startService(_ name: BusName) async throws {
        _ = try await callBus("StartServiceByName") {
            try $0.writeString(name.string)
            try $0.writeUInt32(0)
        } read: {
            try $0.readUInt32()
        }
    }

    /// The process behind a name; nil where nobody has it, or the bus does not tell.
    public func processID(of name: BusName) async -> UInt32? {
        try? await callBus("GetConnectionUnixProcessID") {
            try $0.writeString(name.string)
        } read: {
            try $0.readUInt32()
        }
    }

    /// The changes of a name's owner, from now on; none that comes after this returns is missed.
    ///
    /// - Parameters:
    ///   - name: A well-known name, or a unique one, which comes and goes with its connection.
    ///   - limit: How many may wait to be fetched.
    /// - Returns: Signals whose three arguments are the name and the unique names of the old and the
    ///   new owner, of which an empty string stands for nobody.
    /// - Throws: ``DBusError`` as ``signals(_:limit:)`` does.
    public func ownerChanges(of name: BusName, limit: Int) async throws -> SignalStream {
        try await signals(Subscriptions.ownerRule(for: name), limit: limit)
    }

    /// Waits until a connection has left the bus.
    ///
    /// A connection that takes no calls (``holdCalls()``) may not learn of it: ask with another.
    ///
    /// - Parameters:
    ///   - name: The unique name of the connection.
    ///   - limit: How long to wait.
    /// - Returns: Whether it has left; not where the time is over, or the bus has gone.
    /// - Throws: ``DBusError`` where the bus cannot be asked.
    public func waitForDeparture(
        of name: BusName, within limit: Duration
    ) async throws -> Bool {
        precondition(name.isUnique, "Only a unique name belongs to one connection.")
        let changes = try await ownerChanges(of: name, limit: 1)
        guard try await hasOwner(of: name) else { return true }
        let departure = Task(executorPreference: loop) {
            // Such a name comes but once, before anybody can know it.
            var iterator = changes.makeAsyncIterator()
            return await iterator.next() != nil
        }
        let timer = loop.schedule(after: limit) { departure.cancel() }
        defer { timer.cancel() }
        return await departure.value
    }
}
