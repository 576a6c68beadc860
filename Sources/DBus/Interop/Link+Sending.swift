import CDBus

/// What goes out, and what of it waits.
extension Link {
    /// Whether every message that was sent has been written to the socket.
    var isDrained: Bool { dbus_connection_has_messages_to_send(connection) == 0 }

    /// How many bytes of messages wait to be written to the socket.
    var backlog: Int { dbus_connection_get_outgoing_size(connection) }

    /// Queues a message, and writes it at once where the socket takes it.
    ///
    /// - Returns: Its serial number, by which a reply refers to it.
    /// - Throws: ``DBusError`` of the name `Disconnected` where the connection is gone.
    @discardableResult
    func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
        // libdbus says TRUE to a send after a disconnect, and nothing ever comes of it.
        guard isConnected else { throw .disconnected }
        guard isIntact else {
            loseSoon()
            throw .disconnected
        }
        guard dbus_message_contains_unix_fds(message.pointer) == 0 || canSendDescriptors else {
            throw .noDescriptors
        }
        var serial: dbus_uint32_t = 0
        try checkMemory(dbus_connection_send(connection, message.pointer, &serial))
        // What waited before may have gone out on the way, and no event will tell.
        if releaseIfWritten() { dispatchSoon() }
        noteDrained()
        return serial
    }

    /// Gives the connection up when the caller of this has come to its end.
    private func loseSoon() {
        // Sendable is promised unchecked: the closure runs on the loop's thread, as this does.
        nonisolated(unsafe) let link = self
        loop.perform { link.lose() }
    }

    func noteDrained() {
        if let drained, isDrained { drained() }
    }

    private var canSendDescriptors: Bool {
        dbus_connection_can_send_type(connection, Int32(TypeCode.unixFD.rawValue)) != 0
    }
}

// MARK: The bound

extension Link {
    /// Takes no more in where too much waits to be written.
    func holdIfFull() {
        guard !isBacklogged, isConnected, backlog > MessageLimits.maximumBacklog else { return }
        isBacklogged = true
        updateWatches()
    }

    /// Goes on where enough has been written, or never will be.
    ///
    /// - Returns: Whether there may be something to dispatch, which waited.
    func releaseIfWritten() -> Bool {
        guard isBacklogged, !isConnected || backlog <= MessageLimits.maximumBacklog else {
            return false
        }
        isBacklogged = false
        updateWatches()
        return true
    }
}
