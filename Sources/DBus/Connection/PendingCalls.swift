/// The calls that wait for a reply, by the serial number of their message.
struct PendingCalls {
    /// What ends a call. Whoever takes a call out of the table calls one of the two, once.
    struct Waiting {
        let timer: EventLoop.Timer?
        let succeed: (borrowing Message) -> Void
        let fail: (any Error) -> Void
    }

    private var waiting: [UInt32: Waiting] = [:]

    mutating func add(_ call: Waiting, serial: UInt32) {
        waiting[serial] = call
    }

    /// Ends a call with the reply or the error that came for it; one that nobody waits for any more
    /// is dropped.
    mutating func complete(with message: borrowing Message) {
        guard let call = waiting.removeValue(forKey: message.replySerial) else { return }
        call.timer?.cancel()
        if message.kind == .error {
            call.fail(message.error)
        } else {
            call.succeed(message)
        }
    }

    /// Ends a call with an error, where it still waits.
    mutating func fail(_ serial: UInt32, with error: any Error) {
        guard let call = waiting.removeValue(forKey: serial) else { return }
        call.timer?.cancel()
        call.fail(error)
    }

    /// Ends every call with an error.
    mutating func failAll(with error: DBusError) {
        let calls = waiting.values
        waiting = [:]
        for call in calls {
            call.timer?.cancel()
            call.fail(error)
        }
    }
}
