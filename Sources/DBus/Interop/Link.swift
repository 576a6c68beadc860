import CDBus

// Invariants
//
// 1. The link owns its libdbus connection: it is private, opened here, closed and released here.
// 2. Every call to libdbus is made on the loop's thread.
// 3. The callbacks for watches only note what libdbus says. None of them calls the connection.
// 4. There is no dispatch inside a dispatch, and no handling of watches inside one.
// 5. Whenever the loop goes to sleep, libdbus has nothing left to dispatch, or the link is held, or
//    a timer is set for another attempt: whatever made messages arrive, a read or a send, is
//    followed by a dispatch until the queue is drained.
// 6. What waits to be written is bounded by `MessageLimits.maximumBacklog` and what one call more
//    brings about. Beyond the bound the link is held: nothing is read and nothing dispatched, so
//    that what comes keeps its order, until enough has been written.
// 7. Only a call that came in holds the link. Replies and signals are read however much waits to be
//    written: a bus may take more from us only when we have taken what it has for us.

/// A connection of libdbus, driven by an event loop.
final class Link {
    let loop: EventLoop
    let connection: OpaquePointer
    var watches: [OpaquePointer: EventLoop.Watch] = [:]
    var isDispatching = false
    var isDispatchDue = false
    var dispatchRetry: EventLoop.Timer?
    /// Whether calls wait until what was written is less (6).
    var isHeld = false
    /// Whether the message that is being dispatched may be a call (7).
    var isCallDispatched = false
    var isClosed = false
    private var isStarted = false

    /// Called with each message that comes, but for those of the interface
    /// `org.freedesktop.DBus.Peer`, which libdbus answers itself.
    ///
    /// The message is lent.
    var receive: ((borrowing Message) -> Void)?

    /// Called each time when the last message that waited to be written is; nil while nobody waits
    /// for that.
    var drained: (() -> Void)?

    /// libdbus's function that hands on one message; a test has it fail.
    var dispatchOne: (OpaquePointer?) -> DBusDispatchStatus = dbus_connection_dispatch

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

    /// The object behind a context pointer.
    ///
    /// It is alive: `deinit` takes the callbacks back.
    static func from(_ context: UnsafeMutableRawPointer?) -> Link {
        guard let context else { preconditionFailure("libdbus lost the context of a callback.") }
        return Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
    }
}
