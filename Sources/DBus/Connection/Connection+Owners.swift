/// Questions to the bus about the owners of names.
extension Connection {
    /// Whether a name has an owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    public func hasOwner(of name: BusName) async throws -> Bool {
        try await callBus("NameHasOwner") {
            try $0.writeString(name.string)
        } read: {
            try $0.readBool()
        }
    }

    /// The unique name of the connection that owns a name; nil if the name has no owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
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

    /// The unique names of the connections that own a name or wait for it: first the owner, then the
    /// others in the order in which they get the name.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked, or if the name has no owner.
    public func queuedOwners(of name: BusName) async throws -> [String] {
        try await callBus("ListQueuedOwners") {
            try $0.writeString(name.string)
        } read: {
            try $0.readArray { try $0.readString() }
        }
    }

    /// Whether the bus can start a program for a name that has no owner.
    ///
    /// - Throws: ``DBusError`` if the bus cannot be asked.
    public func canActivate(_ name: BusName) async throws -> Bool {
        try await callBus("ListActivatableNames") { _ in
        } read: {
            try $0.readArray { try $0.readString() }.contains(name.string)
        }
    }

    /// Asks the bus to start the program of a name without an owner, and waits until it owns the name.
    ///
    /// - Throws: ``DBusError``; if the program does not start, with the bus's own words.
    public func startService(_ name: BusName) async throws {
        _ = try await callBus("StartServiceByName") {
            try $0.writeString(name.string)
            try $0.writeUInt32(0)
        } read: {
            try $0.readUInt32()
        }
    }

    /// The process that owns a name; nil if the name has no owner, or if the bus does not say.
    public func processID(of name: BusName) async -> UInt32? {
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
    public func ownerChanges(of name: BusName, limit: Int) async throws -> SignalStream {
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
    public func waitForDeparture(
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
