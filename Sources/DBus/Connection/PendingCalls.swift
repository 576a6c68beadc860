/// The calls that wait for a reply.
///
/// A reply refers to its call by the serial number of the message; a timeout and a cancellation do
/// by a number of ours, which is there before the message is sent.
struct PendingCalls {
    /// What ends a call.
    ///
    /// Whoever takes a call out of the table calls one of the two, once.
    struct Waiting {
        let number: UInt64
        let timer: EventLoop.Timer?
        let succeed: (borrowing Message) -> Void
        let fail: (any Error) -> Void
    }

    private var waiting: [UInt32: Waiting] = [:]
    private var serials: [UInt64: UInt32] = [:]
    private var lastNumber: UInt64 = 0

    /// A number for the next call.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ call: Waiting, serial: UInt32) {
        waiting[serial] = call
        serials[call.number] = serial
    }

    /// Ends a call with the reply or the error that came for it; one that nobody waits for any more
    /// is dropped.
    mutating func complete(with message: borrowing Message) {
        guard let call = remove(message.replySerial) else { return }
        if message.kind == .error {
            call.fail(message.error)
        } else {
            call.succeed(message)
        }
    }

    /// Ends a call with an error, where it still waits.
    mutating func fail(_ number: UInt64, with error: any Error) {
        guard let serial = serials[number] else { return }
        remove(serial)?.fail(error)
    }

    /// Ends every call with an error.
    mutating func failAll(with error: DBusError) {
        for serial in waiting.keys { remove(serial)?.fail(error) }
    }

    private mutating func remove(_ serial: UInt32) -> Waiting? {
        guard let call = waiting.removeValue(forKey: serial) else { return nil }
        serials[call.number] = nil
        call.timer?.cancel()
        return call
    }
}
