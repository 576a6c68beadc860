import CDBus
import Glibc
import SystemCalls

// Invariants
//
// 1. The link owns its libdbus connection: it is private, opened here, closed and released here.
// 2. Every call to libdbus is made on the loop's thread.
// 3. The callbacks for watches only note what libdbus says. None of them calls the connection.
// 4. A dispatch never runs inside another dispatch, and watches are not handled inside one.
// 5. When the loop goes to sleep, libdbus has nothing left to dispatch, or the link is held, or a
//    timer is set for another attempt. So every read or send, which may bring messages, is followed
//    by a dispatch until the queue is empty.
// 6. The backlog of data to write is limited to `maximumBacklog` and the reply of one more call.
//    Above the limit the link is held: nothing is dispatched until enough has been written, so
//    messages keep their order, and nothing is read except to authenticate.
// 7. Only a received call holds the link in this way. Replies and signals are always read: a bus
//    may accept more from us only after we have read what it has for us.
// 8. libdbus stops reading when all live messages together have
//    `MessageLimits.maximumReceivedSize`. Calls that wait for an answer of the bus stay below that,
//    so the answer can be read: they are added below `maximumWaitingSize`, one message at a time.
//    The same is true for descriptors.

/// A connection of libdbus, driven by an event loop.
final class Link {
    let loop: EventLoop
    let connection: OpaquePointer
    var watches: [OpaquePointer: EventLoop.Watch] = [:]
    var isDispatching = false
    var isDispatchDue = false
    var dispatchRetry: EventLoop.Timer?
    /// Whether the backlog is above the limit (6).
    var isBacklogged = false
    /// The bytes that may wait to be written before no more calls are accepted (6).
    let maximumBacklog: Int
    /// Whether the owner accepts no messages now.
    private(set) var isPaused = false
    /// Ends the connection of a peer that has connected to us and is not authenticated in time; nil
    /// when it is.
    var authenticationLimit: EventLoop.Timer?
    /// What a peer that has connected to us leaves undone; nil for all others.
    let conduct: PeerConduct?
    /// Whether the connection is to one peer, without a bus.
    let isDirect: Bool
    /// Whether the message that is being dispatched may be a call (7).
    var isCallDispatched = false
    /// Sees that the peer closes the connection, after the end of writing.
    private var departure: EventLoop.Watch?
    var isClosed = false
    /// Whether the application has closed our socket.
    private(set) var isLost = false
    /// Which socket it is.
    private var identity: FileIdentity?
    private var isStarted = false

    /// Called with each received message, except calls to the interface `org.freedesktop.DBus.Peer`
    /// without a destination: libdbus answers those itself.
    ///
    /// The message is valid during the call.
    var receive: ((borrowing Message) -> Void)?

    /// Called each time when the backlog has been written; nil if nobody waits for that.
    var drained: (() -> Void)?

    /// Called once when the application has closed our socket.
    var lost: (() -> Void)?

    /// Called when all messages that libdbus has read have been passed on.
    var dispatched: (() -> Void)?

    /// The function of libdbus that dispatches one message.
    ///
    /// A test can make it fail.
    var dispatchOne: (OpaquePointer?) -> DBusDispatchStatus = dbus_connection_dispatch

    /// Makes a connection without a bus from a socket that has a peer.
    ///
    /// - Throws: ``DBusError`` with the name `InvalidArgs` if it is not such a socket.
    convenience init(serving socket: FileDescriptor, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(serving: socket), isDirect: true, on: loop)
    }

    /// Makes a connection to the peer that serves at the other end of a socket.
    ///
    /// - Throws: ``DBusError`` with the name `InvalidArgs` if it is not such a socket.
    convenience init(calling socket: FileDescriptor, on loop: EventLoop) throws(DBusError) {
        self.init(owning: try Self.open(calling: socket), isDirect: true, on: loop)
    }

    /// Takes over the connection of a peer that a server of libdbus has accepted.
    ///
    /// The peer may send no descriptors: with a few unfinished messages it could take all that this
    /// process has.
    ///
    /// - Parameter patience: How long the peer may leave something undone.
    convenience init(
        accepted connection: OpaquePointer, patience: PeerConduct.Patience, on loop: EventLoop
    ) {
        dbus_connection_set_exit_on_disconnect(connection, 0)
        self.init(
            owning: connection, isDirect: true,
            maximumBacklog: MessageLimits.maximumBacklogOfPeer,
            conduct: PeerConduct(patience, on: loop), on: loop)
        dbus_connection_set_max_message_unix_fds(connection, 0)
        conduct?.cutOff = { [unowned self] in cutOff() }
        authenticationLimit = loop.schedule(after: patience.authentication) { [weak self] in
            self?.cutOff()
        }
    }

    /// Ends the connection of a peer: its end comes as if the peer had ended it.
    func cutOff() {
        guard !isClosed, isIntact else { return }
        conduct?.end()
        dbus_connection_close(connection)
        _ = releaseIfWritten()
        dispatchSoon()
    }

    /// Takes over a connection of libdbus.
    init(
        owning connection: OpaquePointer, isDirect: Bool,
        maximumBacklog: Int = MessageLimits.maximumBacklog, conduct: PeerConduct? = nil,
        on loop: EventLoop
    ) {
        self.maximumBacklog = maximumBacklog
        self.conduct = conduct
        loop.preconditionOnLoop("a connection was opened")
        self.loop = loop
        self.connection = connection
        self.isDirect = isDirect
        // By default, a message with more than 16 descriptors ends the connection, although the bus
        // allows it.
        dbus_connection_set_max_message_unix_fds(connection, MessageLimits.receivedDescriptors)
        dbus_connection_set_route_peer_messages(connection, 1)
        dbus_connection_set_max_received_size(connection, MessageLimits.maximumReceivedSize)
        dbus_connection_set_max_received_unix_fds(
            connection, MessageLimits.maximumReceivedDescriptors)
    }

    deinit {
        // It was closed already, on the loop's thread, unless it was never started. The last
        // reference may be released on another thread.
        close()
        nonisolated(unsafe) let connection = connection
        // libdbus would close the number, which now belongs to another file. So it is not closed.
        guard !isLost else { return }
        if loop.isCurrent {
            dbus_connection_unref(connection)
        } else {
            loop.perform { dbus_connection_unref(connection) }
        }
    }

    /// Starts to receive messages.
    ///
    /// Until then they wait.
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
        identity = socket.flatMap { loop.identity(of: $0) }
        isStarted = true
        // Messages may have arrived with the answer.
        dispatchStatusChanged(dbus_connection_get_dispatch_status(connection))
    }

    /// Ends the connection and every callback.
    ///
    /// Unwritten messages are lost.
    func close() {
        guard !isClosed, isIntact else { return lose() }
        isClosed = true
        authenticationLimit?.cancel()
        conduct?.end()
        departure?.cancel()
        (receive, drained, dispatched, lost) = (nil, nil, nil, nil)
        let context = Unmanaged.passUnretained(self).toOpaque()
        if isStarted { dbus_connection_remove_filter(connection, Self.filter, context) }
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        _ = dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_close(connection)
    }

    /// Lets the peer read the end of what was sent, while it can still write.
    ///
    /// - Parameter handler: Called when the peer has closed the connection.
    func endWriting(_ handler: @escaping () -> Void) {
        guard isConnected, isIntact, let socket else { return handler() }
        shutdown(socket, Int32(SHUT_WR))
        departure = loop.watch(socket, for: .peerHangUp) { [weak self] _ in
            self?.departure?.cancel()
            handler()
        }
    }

    private var socket: Int32? {
        var number: Int32 = -1
        return dbus_connection_get_socket(connection, &number) != 0 ? number : nil
    }

    /// Whether the socket, if there is one, is still ours.
    ///
    /// An application that closes all descriptors may open its own file under the number. libdbus
    /// must not write messages to that file.
    var isIntact: Bool {
        guard !isLost, let identity, let socket else { return !isLost }
        return identity.isHeld(byDescriptor: socket)
    }

    /// Gives up a connection whose socket is no longer ours, without touching the number.
    func lose() {
        guard !isClosed else { return }
        (isClosed, isLost) = (true, true)
        let tell = lost
        conduct?.end()
        departure?.cancel()
        (receive, drained, dispatched, lost) = (nil, nil, nil, nil)
        for watch in watches.values { watch.cancel() }
        watches = [:]
        // The callbacks may release this object.
        tell?()
    }

    /// Whether dispatching is stopped.
    ///
    /// When the peer is authenticated, reading is stopped, too.
    var isHeld: Bool { isBacklogged || isPaused }

    /// Stops or continues receiving.
    ///
    /// Meanwhile the end of the connection may not be noticed.
    func setPaused(_ isPaused: Bool) {
        guard self.isPaused != isPaused, !isClosed else { return }
        self.isPaused = isPaused
        noteHold()
        if !isHeld { dispatchSoon() }
    }

    /// The object behind a context pointer.
    ///
    /// It is alive, because `deinit` removes the callbacks.
    static func from(_ context: UnsafeMutableRawPointer?) -> Link {
        guard let context else { preconditionFailure("libdbus lost the context of a callback.") }
        return Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
    }
}

/// Sent messages, and those that wait to be written.
extension Link {
    /// Whether every message that was sent has been written to the socket.
    var isDrained: Bool { dbus_connection_has_messages_to_send(connection) == 0 }

    /// How many bytes of messages wait to be written to the socket.
    var backlog: Int { dbus_connection_get_outgoing_size(connection) }

    /// Queues a message, and writes it at once if the socket takes it.
    ///
    /// - Returns: Its serial number, by which a reply refers to it.
    /// - Throws: ``DBusError`` with the name `Disconnected` if the connection is gone.
    @discardableResult
    func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
        // After a disconnect, libdbus returns TRUE for a send and drops the message.
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
        if let conduct, backlog > maximumBacklog { conduct.noteUnread() }
        // This call may have written earlier messages, and no event will report that.
        if releaseIfWritten() { dispatchSoon() }
        noteDrained()
        return serial
    }

    /// Gives up the connection after the current function has returned.
    private func loseSoon() {
        // Sendable is unchecked here: the closure runs on the loop's thread, as this does.
        nonisolated(unsafe) let link = self
        loop.perform { link.lose() }
    }

    func noteDrained() {
        if let drained, isDrained { drained() }
    }

    var canSendDescriptors: Bool {
        dbus_connection_can_send_type(connection, Int32(TypeCode.unixFD.rawValue)) != 0
    }
}

// MARK: The limit

extension Link {
    /// Stops receiving if the backlog is above the limit.
    func holdIfFull() {
        guard !isBacklogged, isConnected, backlog > maximumBacklog else { return }
        isBacklogged = true
        noteHold()
    }

    /// Continues if enough has been written, or if nothing will be written any more.
    ///
    /// - Returns: Whether there may be waiting messages to dispatch.
    func releaseIfWritten() -> Bool {
        guard isBacklogged, !isConnected || backlog <= maximumBacklog else {
            return false
        }
        isBacklogged = false
        noteHold()
        return true
    }

    /// Stops reading, or reads again.
    private func noteHold() {
        conduct?.noteHold(isHeld)
        updateWatches()
    }
}
