import CDBus
import Glibc

// MARK: Watches

/// The sockets that libdbus wants the loop to watch.
extension Link {
    func add(_ watch: OpaquePointer?) -> dbus_bool_t {
        guard let watch else { return 0 }
        watches[watch] = loop.watch(
            dbus_watch_get_unix_fd(watch), for: events(of: watch)
        ) { [unowned self] events in
            handle(watch, events)
        }
        return 1
    }

    func remove(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches.removeValue(forKey: watch)?.cancel()
    }

    func toggle(_ watch: OpaquePointer?) {
        guard let watch else { return }
        watches[watch]?.events = events(of: watch)
    }

    func updateWatches() {
        for watch in watches.keys { toggle(watch) }
    }

    /// The events to wait for.
    ///
    /// None if libdbus has not enabled the watch. No reading while the link is held, except to
    /// authenticate: before that, nothing that is sent reaches the peer.
    private func events(of watch: OpaquePointer) -> Events {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var events: Events = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0, !isHeld || authenticationLimit != nil {
            events.insert(.readable)
        }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        return events
    }

    private func handle(_ watch: OpaquePointer, _ events: Events) {
        // Handling may end in a disconnect, which may release this object.
        withExtendedLifetime(self) {
            guard !events.contains(.lost) else { return lose() }
            // What is read here is dispatched in the same turn of the loop.
            isDispatching = true
            handleAll(watch, events)
            if events.contains(.writable) { noteWritten() }
            // libdbus notices the end by reading, but a held link does not read. The waiting
            // messages have no reader any more, so there is no reason to continue.
            if isHeld, !events.isDisjoint(with: [.error, .hangUp]) {
                dbus_connection_close(connection)
            }
            isDispatching = false
            noteAuthentication()
            _ = releaseIfWritten()
            dispatch()
            if events.contains(.writable) { noteDrained() }
        }
    }

    private func noteWritten() {
        guard let conduct else { return }
        if backlog > maximumBacklog { conduct.noteRead() } else { conduct.noteLittleUnread() }
    }

    private func noteAuthentication() {
        guard let limit = authenticationLimit, isAuthenticated else { return }
        limit.cancel()
        authenticationLimit = nil
        if isHeld { updateWatches() }
    }

    /// Lets libdbus write, and read what has arrived.
    ///
    /// libdbus reads 2 KiB at a time. It is called until there is nothing left, or `readsAtOnce`
    /// times. So a call behind many others, or a large one, does not have to wait for other calls
    /// between two reads. A peer has nobody behind it, and its first call is carried out at once.
    private func handleAll(_ watch: OpaquePointer, _ events: Events) {
        // Most messages come whole. Only for another part of one it is asked how large it is.
        let isPart = (conduct?.unfinished ?? 0) > 0
        let waiting = isPart ? bytesToRead(dbus_watch_get_unix_fd(watch)) : nil
        var reads = 0
        defer { noteInput(reads, waiting, events) }
        var flags = Self.flags(for: events)
        for _ in 0..<Self.readsAtOnce {
            reads += 1
            // FALSE means out of memory: the descriptor stays ready and is handled again. After the
            // call, the watch may be gone or may no longer want to read.
            guard dbus_watch_handle(watch, flags) != 0, events.contains(.readable),
                !isHeld, watches[watch] != nil, dbus_watch_get_enabled(watch) != 0,
                !hasCallOfPeer, hasMoreToRead(dbus_watch_get_unix_fd(watch))
            else { return }
            flags = DBUS_WATCH_READABLE.rawValue
        }
    }

    private static let readsAtOnce = 32

    private func noteInput(_ reads: Int, _ waiting: Int?, _ events: Events) {
        guard let conduct, events.contains(.readable), authenticationLimit == nil, isConnected
        else { return }
        if hasCallOfPeer {
            conduct.finishMessage()
        } else {
            conduct.noteInput(reads: reads, of: reads == 1 ? waiting : nil)
        }
    }

    private var hasCallOfPeer: Bool {
        isDirect && dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_DATA_REMAINS
    }

    private func hasMoreToRead(_ descriptor: Int32) -> Bool { bytesToRead(descriptor) > 0 }

    private func bytesToRead(_ descriptor: Int32) -> Int {
        var bytes: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &bytes) == 0 ? Int(bytes) : 0
    }

    private static func flags(for events: Events) -> UInt32 {
        var flags: UInt32 = 0
        if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if !events.isDisjoint(with: .error) { flags |= DBUS_WATCH_ERROR.rawValue }
        if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        return flags
    }
}

// MARK: Dispatch

/// Dispatching the messages that libdbus has read.
extension Link {
    static let filter: DBusHandleMessageFunction = { _, message, context in
        guard let message else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
        Link.from(context).hand(Message(retaining: message))
        return DBUS_HANDLER_RESULT_HANDLED
    }

    private func hand(_ message: borrowing Message) {
        isCallDispatched = message.kind == .call
        receive?(message)
    }

    /// Notes that there is something to dispatch.
    ///
    /// libdbus does not allow dispatching in this callback.
    func dispatchStatusChanged(_ status: DBusDispatchStatus) {
        guard status != DBUS_DISPATCH_COMPLETE, !isDispatching else { return }
        dispatchSoon()
    }

    /// Dispatches in another turn of the loop.
    func dispatchSoon() {
        guard !isDispatchDue else { return }
        isDispatchDue = true
        // Sendable is unchecked here: the closure runs on the loop's thread, as this does.
        nonisolated(unsafe) let link = self
        loop.perform { link.dispatch() }
    }

    /// Passes on every message that was read, until one of them holds the link.
    private func dispatch() {
        guard !isDispatching && !isClosed else { return }
        isDispatchDue = false
        isDispatching = true
        defer { isDispatching = false }
        var status = dbus_connection_get_dispatch_status(connection)
        while status == DBUS_DISPATCH_DATA_REMAINS, !isHeld, !isClosed {
            // The calls that libdbus answers itself do not reach the filter.
            isCallDispatched = true
            status = dispatchOne(connection)
            if isCallDispatched { holdIfFull() }
        }
        if status == DBUS_DISPATCH_NEED_MEMORY { retryDispatch() }
        if !isHeld { dispatched?() }
    }

    /// Retries later, when memory may be free again.
    ///
    /// libdbus does not report that. It has already read the messages, so the socket will not cause
    /// an event.
    private func retryDispatch() {
        guard dispatchRetry == nil else { return }
        dispatchRetry = loop.schedule(after: .milliseconds(100)) { [weak self] in
            self?.dispatchRetry = nil
            self?.dispatch()
        }
    }
}

// Converting the results of libdbus's functions to Swift.

/// Checks the result of a function that fails only if there is no memory, or no free descriptor.
func checkMemory(_ result: dbus_bool_t) throws(DBusError) {
    guard result != 0 else { throw .noMemory }
}

/// Checks the result of a function that reports an error of libdbus.
func checkError<Result>(
    _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Result
) throws(DBusError) -> Result {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let result = body(&error)
    guard dbus_error_is_set(&error) == 0 else { throw DBusError(copying: error) }
    return result
}

extension DBusError {
    /// Copies an error of libdbus.
    ///
    /// The caller still has to free it.
    fileprivate init(copying error: CDBus.DBusError) {
        let name = error.name.map { ErrorName(checked: String(cString: $0)) }
        // Some messages end in a line break, such as the one for a wrong address.
        let message = error.message.map { String(cString: $0).trimmingLineBreaks }
        self.init(name ?? .failed, message ?? "libdbus gave no reason.")
    }
}

extension String {
    fileprivate var trimmingLineBreaks: String {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
