import Synchronization
package import SystemCalls

// Invariants
//
// 1. Everything of a connection happens on its loop's thread. A received message is handled in one
//    synchronous pass: read, dispatch, handler, reply, write.
// 2. Each waiting call ends exactly once: by its reply, its timeout, the cancellation of its task,
//    or the end of the connection, whichever is first.
// 3. After the end of the connection nothing waits: calls throw `Disconnected`, streams finish,
//    flushes return.

/// A connection to a bus, or to one peer without a bus, for calls, signals and served objects.
///
/// ```swift
/// let loop = try EventLoop.startThread(named: "dbus")
/// let connection = try await Connection.open(.session, on: loop)
/// let names = try await connection.call(
///     .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames"
/// ) { reader in
///     try reader.readArray { try $0.readString() }
/// }
/// ```
///
/// It is not shared with other users of libdbus in the process, and never ends the process. If the
/// bus goes away, calls fail, streams finish, and ``onDisconnect(_:)`` calls its closure.
///
/// The connection is an actor on its loop. An actor that names the same loop as its executor calls
/// it without a thread switch, and is itself reached from a method's handler by `assumeIsolated`.
///
/// It is closed with its last reference, or by ``close()``. Release it before its loop ends.
package actor Connection {
    /// The loop that runs the connection.
    package nonisolated let loop: EventLoop

    /// The name that the bus has given the connection, and never gives to another; nil without a
    /// bus, and before the bus has answered.
    package nonisolated var uniqueName: BusName? { givenName.withLock { $0 } }
    private nonisolated let givenName = Mutex<BusName?>(nil)

    /// A name that no bus gives, for a peer that a ``PeerListener`` has accepted: `:direct.` and a
    /// number; otherwise empty.
    package nonisolated let peerName: String

    /// Used on the loop's thread only.
    ///
    /// Not isolated, so that `deinit` can hand it over to the loop.
    nonisolated(unsafe) let link: Link
    var objects = ObjectTree()
    var pendingCalls = PendingCalls()
    var subscriptions = Subscriptions()
    /// The received calls of this connection and of others of the same service.
    ///
    /// Not isolated, for the same reason as `link`.
    nonisolated(unsafe) let calls: IncomingCalls
    /// Those who call over this connection.
    ///
    /// Not isolated, for the same reason as `link`.
    nonisolated(unsafe) var callers = KnownCallers()
    /// Whether reading stops as soon as no reply is waited for.
    var isPaused = false
    var nameLostHandlers: [BusName: [@Sendable () -> Void]] = [:]
    var nameAcquiredHandlers: [BusName: [@Sendable () -> Void]] = [:]
    private var flushes: [CheckedContinuation<Void, Never>] = []
    private var disconnectHandlers: [@Sendable () -> Void] = []
    /// Whether neither side has ended the connection.
    package private(set) var isOpen = true

    /// The loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// Serves the peer at the other end of a socket, without a bus.
    ///
    /// The process that has the other end may call, because it was given the socket. It
    /// authenticates like any client. There are no names: ``uniqueName`` and ``MethodCall/sender``
    /// are nil, signals go to the peer, and ``requestName(_:_:)`` throws. ``onDisconnect(_:)``
    /// calls its closure when the peer has gone.
    ///
    /// To be called on the loop's thread.
    ///
    /// - Parameter socket: A connected Unix stream socket. The connection uses a duplicate. The
    ///   peer sees the end of the connection when this socket is closed, too. The socket becomes
    ///   non-blocking.
    /// - Throws: ``DBusError``, of the name `InvalidArgs` if it is not such a socket.
    package init(serving socket: FileDescriptor, on loop: EventLoop) throws {
        try self.init(Link(serving: socket, on: loop))
    }

    /// Calls the peer that serves at the other end of a socket, without a bus, as
    /// ``init(serving:on:)`` does at its end.
    ///
    /// - Parameters:
    ///   - socket: A connected Unix stream socket. The connection uses a duplicate. The peer sees
    ///     the end of the connection when this socket is closed, too. The socket becomes
    ///     non-blocking.
    ///   - loop: The loop, which runs on another thread.
    /// - Throws: ``DBusError``, of the name `InvalidArgs` if it is not such a socket.
    package static func open(
        calling socket: FileDescriptor, on loop: EventLoop
    ) async throws -> Connection {
        try await withCheckedThrowingContinuation { continuation in
            loop.perform {
                continuation.resume(
                    with: Result { try Connection(calling: socket, on: loop) })
            }
        }
    }

    /// Calls the peer at the other end of a socket, as ``open(calling:on:)`` does, for code that runs
    /// on the loop's thread.
    package init(calling socket: FileDescriptor, on loop: EventLoop) throws {
        try self.init(Link(calling: socket, on: loop))
    }

    init(_ link: Link, peerName: String = "", sharing calls: IncomingCalls? = nil) throws {
        self.peerName = peerName
        loop = link.loop
        self.link = link
        self.calls = calls ?? IncomingCalls(on: link.loop)
        try assumeIsolated { try $0.start() }
    }

    // The link must be closed on the loop's thread. An isolated deinit would see to it, but in an
    // optimized build of a module that imports this one it ends Swift 6.3 with "circular reference".
    deinit {
        // The waiting calls are passed with it, because their messages belong to that thread.
        nonisolated(unsafe) let (link, calls, callers) = (link, calls, callers)
        let end: @Sendable () -> Void = {
            calls.drop(callsOf: callers.all)
            link.close()
        }
        if loop.isCurrent { end() } else { loop.perform(end) }
    }

    /// Takes the name from the bus's answer to the greeting.
    nonisolated func take(uniqueName: BusName) {
        givenName.withLock { $0 = uniqueName }
    }

    /// Whether the other end has authenticated.
    ///
    /// A bus has done that when the connection exists. A peer on a socket may never do it.
    package var isAuthenticated: Bool { link.isAuthenticated }

    /// Whether messages may bring descriptors, which both ends agree on when they connect.
    package var carriesDescriptors: Bool { link.canSendDescriptors }

    private func start() throws {
        // Weak: the last reference to the connection may go away on another thread while a message
        // is on its way.
        link.receive = { [weak self] message in
            self?.assumeIsolated { $0.receive(message) }
        }
        link.lost = { [weak self] in
            self?.assumeIsolated { $0.disconnected() }
        }
        link.dispatched = { [weak self] in
            self?.assumeIsolated { $0.noteDispatched() }
        }
        if link.isDirect { expectPeer() }
        calls.add(self)
        try link.start()
    }

    private func receive(_ message: borrowing Message) {
        switch message.kind {
        case .call: admit(message)
        case .reply, .error:
            pendingCalls.take(serial: message.replySerial)?.end(with: message)
            updatePause()
        case .signal:
            if message.isDisconnection { return disconnected() }
            noteOwnedNames(message)
            deliver(message)
        case nil: break
        }
    }
}

// MARK: The end

extension Connection {
    /// Calls a closure once, on the loop's thread, when the bus has ended the connection;
    /// immediately if it has already.
    ///
    /// ``close()`` does not call it.
    package func onDisconnect(_ handler: @escaping @Sendable () -> Void) {
        if isOpen {
            disconnectHandlers.append(handler)
        } else {
            handler()
        }
    }

    /// Waits until everything is written to the socket, so that it arrives even if the process
    /// ends.
    ///
    /// It also returns when the connection has ended.
    package func flush() async {
        await withCheckedContinuation { continuation in
            if isOpen && !link.isDrained {
                flushes.append(continuation)
                link.drained = { [weak self] in
                    self?.assumeIsolated { $0.endFlushes() }
                }
            } else {
                continuation.resume()
            }
        }
    }

    /// Sends nothing any more, and waits until the peer has closed the connection.
    ///
    /// Nothing may wait to be written. What the peer still sends is read by nobody if reading is
    /// paused.
    func endWriting() async {
        await withCheckedContinuation { continuation in
            guard isOpen else { return continuation.resume() }
            flushes.append(continuation)
            link.endWriting { [weak self] in self?.assumeIsolated { $0.endFlushes() } }
        }
    }

    /// Ends the connection: waiting calls throw `Disconnected`, and what is not written yet is
    /// lost.
    package func close() {
        guard isOpen else { return }
        disconnectHandlers = []
        end()
        link.close()
    }

    private func disconnected() {
        guard isOpen else { return }
        let handlers = disconnectHandlers
        disconnectHandlers = []
        end()
        for handler in handlers { handler() }
    }

    private func end() {
        isOpen = false
        dropCalls()
        for call in pendingCalls.takeAll() { call.fail(DBusError.disconnected) }
        subscriptions.finishAll()
        endFlushes()
    }

    private func endFlushes() {
        link.drained = nil
        for flush in flushes { flush.resume() }
        flushes = []
    }
}
