import CDBus
import Glibc

// MARK: Watches

/// The sockets that libdbus has the loop watch.
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

    /// What is waited for: nothing if libdbus has not enabled the watch, and nothing to read
    /// while the link is held.
    private func events(of watch: OpaquePointer) -> Events {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var events: Events = []
        if flags & DBUS_WATCH_READABLE.rawValue != 0, !isHeld { events.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        return events
    }

    private func handle(_ watch: OpaquePointer, _ events: Events) {
        // Handling may end in a disconnect, whose consequences may let go of this object.
        withExtendedLifetime(self) {
            guard !events.contains(.lost) else { return lose() }
            // What is read here is dispatched right after, without a turn of the loop.
            isDispatching = true
            handleAll(watch, events)
            // libdbus learns of the end by reading, which a held link does not do. Nobody will take
            // what waits, so that there is nothing to go on for.
            if isHeld, !events.isDisjoint(with: [.error, .hangUp]) {
                dbus_connection_close(connection)
            }
            isDispatching = false
            _ = releaseIfWritten()
            dispatch()
            if events.contains(.writable) { noteDrained() }
        }
    }

    /// Has libdbus write, and read what has come.
    ///
    /// It reads 2 KiB at a time, and is asked again until there is no more, or for `readsAtOnce`
    /// times: a call that has many before it, or a large one, does not wait while calls are carried
    /// out between any two of them.
    private func handleAll(_ watch: OpaquePointer, _ events: Events) {
        var flags = Self.flags(for: events)
        for _ in 0..<Self.readsAtOnce {
            // Out of memory is told by FALSE; the descriptor stays ready and is handled again. The
            // watch may be gone after it, or read no more.
            guard dbus_watch_handle(watch, flags) != 0, events.contains(.readable),
                watches[watch] != nil, dbus_watch_get_enabled(watch) != 0,
                hasMoreToRead(dbus_watch_get_unix_fd(watch))
            else { return }
            flags = DBUS_WATCH_READABLE.rawValue
        }
    }

    private static let readsAtOnce = 32

    private func hasMoreToRead(_ descriptor: Int32) -> Bool {
        var bytes: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &bytes) == 0 && bytes > 0
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

/// The messages that libdbus has read.
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
    /// libdbus asks that it not be done here.
    func dispatchStatusChanged(_ status: DBusDispatchStatus) {
        guard status != DBUS_DISPATCH_COMPLETE, !isDispatching else { return }
        dispatchSoon()
    }

    /// Dispatches in a turn of the loop of its own.
    func dispatchSoon() {
        guard !isDispatchDue else { return }
        isDispatchDue = true
        // Sendable is promised unchecked: the closure runs on the loop's thread, as this does.
        nonisolated(unsafe) let link = self
        loop.perform { link.dispatch() }
    }

    /// Hands on every message that has been read, until one of them holds the link.
    private func dispatch() {
        guard !isDispatching && !isClosed else { return }
        isDispatchDue = false
        isDispatching = true
        defer { isDispatching = false }
        var status = dbus_connection_get_dispatch_status(connection)
        while status == DBUS_DISPATCH_DATA_REMAINS, !isHeld, !isClosed {
            // The calls that libdbus answers itself do not come to the filter.
            isCallDispatched = true
            status = dispatchOne(connection)
            if isCallDispatched { holdIfFull() }
        }
        if status == DBUS_DISPATCH_NEED_MEMORY { retryDispatch() }
        if !isHeld { dispatched?() }
    }

    /// Tries again when others may have given memory back: libdbus does not tell, and the messages
    /// are in it already, so that no event of the socket will.
    private func retryDispatch() {
        guard dispatchRetry == nil else { return }
        dispatchRetry = loop.schedule(after: .milliseconds(100)) { [weak self] in
            self?.dispatchRetry = nil
            self?.dispatch()
        }
    }
}

// How each kind of result of libdbus's functions becomes Swift's.

/// Checks a function that fails only for lack of memory, or of a descriptor to duplicate into.
func checkMemory(_ result: dbus_bool_t) throws(DBusError) {
    guard result != 0 else { throw .noMemory }
}

/// Checks a function that fills in an error of libdbus.
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
    /// Copies an error of libdbus, which stays the caller's to free.
    fileprivate init(copying error: CDBus.DBusError) {
        let name = error.name.map { ErrorName(checked: String(cString: $0)) }
        // Some end in a line break, as that of a wrong address.
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
