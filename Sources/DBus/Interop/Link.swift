import CDBus

// Invariants
//
// 1. The link owns its libdbus connection: it is private, opened here, closed and released here.
// 2. Every call to libdbus is made on the loop's thread.
// 3. The callbacks for watches only note what libdbus says. None of them calls the connection.
// 4. There is no dispatch inside a dispatch, and no handling of watches inside one.
// 5. Whenever the loop goes to sleep, libdbus has nothing left to dispatch: whatever made messages
//    arrive, a read or a send, is followed by a dispatch until the queue is drained.

/// A connection of libdbus, driven by an event loop.
final class Link {
    private let loop: EventLoop
    private let connection: OpaquePointer
    private var watches: [OpaquePointer: EventLoop.Watch] = [:]
    private var isDispatching = false
    private var isDispatchDue = false
    private var isStarted = false
    private var isClosed = false

    /// Called with each message that comes, but for those of the interface
    /// `org.freedesktop.DBus.Peer`, which libdbus answers itself.
    ///
    /// The message is lent.
    var receive: ((borrowing Message) -> Void)?

    /// Called each time when the last message that waited to be written is; nil while nobody waits
    /// for that.
    var drained: (() -> Void)?

    /// Opens a connection and greets the bus, which blocks until the bus has greeted back.
    ///
    /// - Throws: ``DBusError`` in the words of libdbus.
    init(to address: Address, on loop: EventLoop) throws(DBusError) {
        loop.preconditionOnLoop("a connection was opened")
        self.loop = loop
        connection = try Self.open(address)
        // By default a message with more than 16 ends the connection to a bus that lets it through.
        dbus_connection_set_max_message_unix_fds(connection, MessageLimits.receivedDescriptors)
    }

    deinit {
        // Closed already, on the loop's thread, unless it was never started. The last reference may
        // go away on another one.
        close()
        nonisolated(unsafe) let connection = connection
        if loop.isCurrent {
            dbus_connection_unref(connection)
        } else {
            loop.perform { dbus_connection_unref(connection) }
        }
    }
}

// MARK: Opening

extension Link {
    private static func open(_ address: Address) throws(DBusError) -> OpaquePointer {
        // Sockets are written to with MSG_NOSIGNAL. libdbus would also ignore SIGPIPE for the whole
        // process, and for its children, which is for the program to decide.
        dbus_connection_set_change_sigpipe(0)
        let opened =
            switch address {
            case .session: try checkError { dbus_bus_get_private(DBUS_BUS_SESSION, $0) }
            case .system: try checkError { dbus_bus_get_private(DBUS_BUS_SYSTEM, $0) }
            case .address(let text): try open(at: text)
            }
        guard let opened else { throw .noMemory }
        // dbus_bus_get_private makes the process exit with the bus. That is not a library's to do.
        dbus_connection_set_exit_on_disconnect(opened, 0)
        return opened
    }

    private static func open(at address: String) throws(DBusError) -> OpaquePointer? {
        // libdbus would read up to the NUL and connect to somewhere else than was asked for.
        guard !address.utf8.contains(0) else { throw .nulInString }
        let opened = try checkError { dbus_connection_open_private(address, $0) }
        guard let opened else { throw .noMemory }
        do {
            _ = try checkError { dbus_bus_register(opened, $0) }
        } catch {
            dbus_connection_close(opened)
            dbus_connection_unref(opened)
            throw error
        }
        return opened
    }

    /// Starts to receive.
    ///
    /// Until then messages wait.
    func start() throws(DBusError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try checkMemory(dbus_connection_add_filter(connection, Self.filter, context, nil))
        try checkMemory(
            dbus_connection_set_watch_functions(
                connection,
                { watch, context in Link.from(context).add(watch) },
                { watch, context in Link.from(context).remove(watch) },
                { watch, context in Link.from(context).toggle(watch) },
                context, nil))
        dbus_connection_set_dispatch_status_function(
            connection, { _, status, context in Link.from(context).dispatchStatusChanged(status) },
            context, nil)
        isStarted = true
        // The greeting may have brought messages along.
        dispatchStatusChanged(dbus_connection_get_dispatch_status(connection))
    }

    /// The object behind a context pointer.
    ///
    /// It is alive: `deinit` takes the callbacks back.
    private static func from(_ context: UnsafeMutableRawPointer?) -> Link {
        guard let context else { preconditionFailure("libdbus lost the context of a callback.") }
        return Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
    }
}

// MARK: Sending

extension Link {
    var uniqueName: BusName? {
        dbus_bus_get_unique_name(connection).map { BusName(checked: String(cString: $0)) }
    }

    var isConnected: Bool { dbus_connection_get_is_connected(connection) != 0 }

    /// Whether every message that was sent has been written to the socket.
    var isDrained: Bool { dbus_connection_has_messages_to_send(connection) == 0 }

    /// Queues a message, and writes it at once where the socket takes it.
    ///
    /// - Returns: Its serial number, by which a reply refers to it.
    /// - Throws: ``DBusError`` of the name `Disconnected` where the connection is gone.
    @discardableResult
    func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
        // libdbus says TRUE to a send after a disconnect, and nothing ever comes of it.
        guard isConnected else { throw .disconnected }
        guard dbus_message_contains_unix_fds(message.pointer) == 0 || canSendDescriptors else {
            throw .noDescriptors
        }
        var serial: dbus_uint32_t = 0
        try checkMemory(dbus_connection_send(connection, message.pointer, &serial))
        // What waited before may have gone out on the way, and no event will tell.
        noteDrained()
        return serial
    }

    private func noteDrained() {
        if let drained, isDrained { drained() }
    }

    private var canSendDescriptors: Bool {
        dbus_connection_can_send_type(connection, Int32(TypeCode.unixFD.rawValue)) != 0
    }

    /// Ends the connection and every callback.
    ///
    /// What has not been written is lost.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        (receive, drained) = (nil, nil)
        let context = Unmanaged.passUnretained(self).toOpaque()
        if isStarted { dbus_connection_remove_filter(connection, Self.filter, context) }
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        _ = dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_close(connection)
    }
}

// MARK: Receiving

extension Link {
    private static let filter: DBusHandleMessageFunction = { _, message, context in
        guard let message else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        Link.from(context).receive?(Message(retaining: message))
        return DBUS_HANDLER_RESULT_HANDLED
    }

    private func add(_ watch: OpaquePointer?) -> dbus_bool_t {
        guard let watch else { return 0 }
        watches[watch] = loop.watch(
            dbus_watch_get_unix_fd(watch), for: Self.events(of: watch)
        ) { [unowned self] events in
            handle(watch, events)
        }
        return 1
    }

    private func remove(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches.removeValue(forKey: watch)?.cancel()
    }

    private func toggle(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches[watch]?.events = Self.events(of: watch)
    }

    /// What libdbus wants to know of a watch: nothing while it is not enabled.
    private static func events(of watch: OpaquePointer) -> Events {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var events: Events = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { events.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        return events
    }

    private func handle(_ watch: OpaquePointer, _ events: Events) {
        var flags: UInt32 = 0
        if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if !events.isDisjoint(with: .error) { flags |= DBUS_WATCH_ERROR.rawValue }
        if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        // Handling may end in a disconnect, whose consequences may let go of this object.
        withExtendedLifetime(self) {
            // What is read here is dispatched right after, without a turn of the loop.
            isDispatching = true
            // Out of memory is told by FALSE; the descriptor stays ready and is handled again.
            _ = dbus_watch_handle(watch, flags)
            isDispatching = false
            dispatch()
            if events.contains(.writable) { noteDrained() }
        }
    }

    /// Notes that there is something to dispatch.
    ///
    /// libdbus asks that it not be done here.
    private func dispatchStatusChanged(_ status: DBusDispatchStatus) {
        guard status == DBUS_DISPATCH_DATA_REMAINS, !isDispatching, !isDispatchDue else { return }
        isDispatchDue = true
        // Sendable is promised unchecked: the closure runs on the loop's thread, as this does.
        nonisolated(unsafe) let link = self
        loop.perform { link.dispatch() }
    }

    /// Hands on every message that has been read.
    private func dispatch() {
        guard !isDispatching && !isClosed else { return }
        isDispatching = true
        while dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS {}
        isDispatching = false
        isDispatchDue = false
    }
}
