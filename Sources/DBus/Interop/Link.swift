import CDBus
import SystemCalls

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
// 7. Only a call that came in holds the link for this. Replies and signals are read however much waits
//    to be written: a bus may take more from us only when we have taken what it has for us.
// 8. libdbus reads no more if the messages that are alive have `MessageLimits.maximumReceivedSize`
//    together. Calls that wait for an answer of the bus have less, so that the answer is read: they
//    are added below `maximumWaitingSize`, one message at a time. The same holds for descriptors.

/// A connection of libdbus, driven by an event loop.
final class Link {
    let loop: EventLoop
    let connection: OpaquePointer
    var watches: [OpaquePointer: EventLoop.Watch] = [:]
    var isDispatching = false
    var isDispatchDue = false
    var dispatchRetry: EventLoop.Timer?
    /// Whether too much waits to be written (6).
    var isBacklogged = false
    /// Whether the owner takes nothing at present.
    private(set) var isPaused = false
    /// Whether the connection is to one peer, without a bus between.
    let isDirect: Bool
    /// Whether the message that is being dispatched may be a call (7).
    var isCallDispatched = false
    var isClosed = false
    /// Whether the application has closed the socket under us.
    private(set) var isLost = false
    /// Which socket it is.
    private var identity: FileIdentity?
    private var isStarted = false

    /// Called with each message that comes, but for calls to the interface
    /// `org.freedesktop.DBus.Peer` that name no destination: libdbus answers those itself.
    ///
    /// The message is lent.
    var receive: ((borrowing Message) -> Void)?

    /// Called each time when the last message that waited to be written is; nil while nobody waits
    /// for that.
    var drained: (() -> Void)?

    /// Called once when the application has closed the socket under us.
    var lost: (() -> Void)?

    /// Called when all that libdbus has read has been handed on.
    var dispatched: (() -> Void)?

    /// libdbus's function that hands on one message; a test has it fail.
    var dispatchOne: (OpaquePointer?) -> DBusDispatchStatus = dbus_connection_dispatch

    /// Opens a connection and greets the bus, if there is one, which blocks until it has greeted back.
    ///
    /// - Throws: ``DBusError`` in the words of libdbus.
    convenience init(to address: Address, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(address), isDirect: address.isPeer, on: loop)
    }

    /// Opens a connection to a bus, which its first call is to greet; nothing blocks.
    ///
    /// - Throws: ``DBusError`` if there is no bus, or none that takes a connection now.
    convenience init(joining address: String, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(joining: address), isDirect: false, on: loop)
    }

    /// Makes a connection without a bus of a socket that has a peer.
    ///
    /// - Throws: ``DBusError``, of the name `InvalidArgs` if it is not such a socket.
    convenience init(serving socket: FileDescriptor, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(serving: socket), isDirect: true, on: loop)
    }

    /// Makes a connection to the peer that serves at the other end of a socket.
    ///
    /// - Throws: ``DBusError``, of the name `InvalidArgs` if it is not such a socket.
    convenience init(calling socket: FileDescriptor, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(calling: socket), isDirect: true, on: loop)
    }

    /// Takes over a connection of libdbus.
    private init(owning connection: OpaquePointer, isDirect: Bool, on loop: EventLoop) {
        loop.preconditionOnLoop("a connection was opened")
        self.loop = loop
        self.connection = connection
        self.isDirect = isDirect
        // By default a message with more than 16 ends the connection to a bus that lets it through.
        dbus_connection_set_max_message_unix_fds(connection, MessageLimits.receivedDescriptors)
        dbus_connection_set_route_peer_messages(connection, 1)
        dbus_connection_set_max_received_size(connection, MessageLimits.maximumReceivedSize)
        dbus_connection_set_max_received_unix_fds(
            connection, MessageLimits.maximumReceivedDescriptors)
    }

    deinit {
        // Closed already, on the loop's thread, unless it was never started. The last reference may
        // go away on another one.
        close()
        nonisolated(unsafe) let connection = connection
        // libdbus would close the number, which is another file's by now. So it is left as it is.
        guard !isLost else { return }
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
        identity = socket.flatMap { FileIdentity(ofDescriptor: $0) }
        isStarted = true
        // The greeting may have brought messages along.
        dispatchStatusChanged(dbus_connection_get_dispatch_status(connection))
    }

    /// Ends the connection and every callback.
    ///
    /// What has not been written is lost.
    func close() {
        guard !isClosed, isIntact else { return lose() }
        isClosed = true
        (receive, drained, dispatched, lost) = (nil, nil, nil, nil)
        let context = Unmanaged.passUnretained(self).toOpaque()
        if isStarted { dbus_connection_remove_filter(connection, Self.filter, context) }
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        _ = dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_close(connection)
    }

    private var socket: Int32? {
        var number: Int32 = -1
        return dbus_connection_get_socket(connection, &number) != 0 ? number : nil
    }

    /// Whether the socket is still ours, as far as it has one.
    ///
    /// An application that closes all descriptors may open a file of its own under the number. libdbus
    /// must not write there what is meant for the bus.
    var isIntact: Bool {
        guard !isLost, let identity, let socket else { return !isLost }
        return identity.isHeld(byDescriptor: socket)
    }

    /// Gives the connection up, whose socket is not ours any more, without touching the number.
    func lose() {
        guard !isClosed else { return }
        (isClosed, isLost) = (true, true)
        let tell = lost
        (receive, drained, dispatched, lost) = (nil, nil, nil, nil)
        for watch in watches.values { watch.cancel() }
        watches = [:]
        // What others do now may let go of this object.
        tell?()
    }

    /// Whether nothing is read and nothing dispatched.
    var isHeld: Bool { isBacklogged || isPaused }

    /// Takes nothing in, or goes on to do so.
    ///
    /// The end of the connection may go unnoticed meanwhile.
    func setPaused(_ isPaused: Bool) {
        guard self.isPaused != isPaused, !isClosed else { return }
        self.isPaused = isPaused
        updateWatches()
        if !isHeld { dispatchSoon() }
    }

    /// The object behind a context pointer.
    ///
    /// It is alive: `deinit` takes the callbacks back.
    static func from(_ context: UnsafeMutableRawPointer?) -> Link {
        guard let context else { preconditionFailure("libdbus lost the context of a callback.") }
        return Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
    }
}

/// What goes out, and what of it waits.
extension Link {
    /// Whether every message that was sent has been written to the socket.
    var isDrained: Bool { dbus_connection_has_messages_to_send(connection) == 0 }

    /// How many bytes of messages wait to be written to the socket.
    var backlog: Int { dbus_connection_get_outgoing_size(connection) }

    /// Queues a message, and writes it at once if the socket takes it.
    ///
    /// - Returns: Its serial number, by which a reply refers to it.
    /// - Throws: ``DBusError`` of the name `Disconnected` if the connection is gone.
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
    /// Takes no more in if too much waits to be written.
    func holdIfFull() {
        guard !isBacklogged, isConnected, backlog > MessageLimits.maximumBacklog else { return }
        isBacklogged = true
        updateWatches()
    }

    /// Goes on if enough has been written, or never will be.
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
